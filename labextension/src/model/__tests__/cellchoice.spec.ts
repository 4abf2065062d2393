import {
  AS_IT_IS,
  decisionsOf,
  groupsOf,
  isEditable,
  wantedCells,
  withGroup,
  withSource
} from '../cellchoice';
import type { CellEdit } from '../events';

const changed: CellEdit = {
  id: 'a',
  what: 'changed',
  cell_type: 'code',
  before: 'x = 1',
  after: 'x = 2',
  position: 0
};
const inserted: CellEdit = {
  id: 'b',
  what: 'inserted',
  cell_type: 'markdown',
  after: '# Title',
  position: 1,
  group: 1
};
const gone: CellEdit = {
  id: 'c',
  what: 'deleted',
  cell_type: 'code',
  before: 'y',
  group: 1
};
const moved: CellEdit = {
  id: 'd',
  what: 'moved',
  cell_type: 'code',
  before: 'z',
  after: 'z',
  position: 3,
  group: 2
};
const CELLS = [inserted, changed, gone, moved];

describe('groupsOf', () => {
  it('keeps together what is done together, in the order of the edit', () => {
    expect(groupsOf(CELLS)).toEqual([[inserted, gone], [changed], [moved]]);
  });
});

describe('isEditable', () => {
  it('holds for cells that get a source', () => {
    expect(CELLS.filter(isEditable)).toEqual([inserted, changed]);
  });
});

describe('decisionsOf', () => {
  it('is nothing where all is approved as it is', () => {
    expect(decisionsOf(CELLS, AS_IT_IS)).toBeUndefined();
  });

  it('rejects all cells of a group', () => {
    const choice = withGroup(AS_IT_IS, 1, false);
    expect(decisionsOf(CELLS, choice)).toEqual([
      { id: 'b', decision: 'reject' },
      { id: 'c', decision: 'reject' }
    ]);
    expect(wantedCells(CELLS, choice)).toEqual([changed, moved]);
    expect(decisionsOf(CELLS, withGroup(choice, 1, true))).toBeUndefined();
  });

  it('approves the person’s text, be it empty', () => {
    const choice = withSource(AS_IT_IS, changed, '');
    expect(decisionsOf(CELLS, choice)).toEqual([
      { id: 'a', decision: 'approve', source: '' }
    ]);
    expect(wantedCells(CELLS, choice)).toEqual(CELLS);
  });

  it('sends no text where the agent’s is written again', () => {
    const choice = withSource(
      withSource(AS_IT_IS, changed, 'x = 3'),
      changed,
      'x = 2'
    );
    expect(decisionsOf(CELLS, choice)).toBeUndefined();
  });

  it('sends no text for a cell that is rejected', () => {
    const choice = withGroup(
      withSource(AS_IT_IS, inserted, '# Mine'),
      1,
      false
    );
    expect(decisionsOf([inserted], choice)).toEqual([
      { id: 'b', decision: 'reject' }
    ]);
    // It is still there when the person changes their mind.
    expect(decisionsOf([inserted], withGroup(choice, 1, true))).toEqual([
      { id: 'b', decision: 'approve', source: '# Mine' }
    ]);
  });
});
