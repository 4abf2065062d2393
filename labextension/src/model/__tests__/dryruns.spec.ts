import { AS_IT_IS, withGroup, withSource } from '../cellchoice';
import { canBeTried, isOutdated } from '../dryruns';
import type { CellEdit } from '../events';
import type { RunnableAction } from '../items';

const GREEN = { mode: 'agent', isolation: null } as const;
const CODE: CellEdit = {
  id: 'a',
  what: 'changed',
  cell_type: 'code',
  before: 'x = 1',
  after: 'x = 2',
  group: 0
};
const NOTES: CellEdit = {
  id: 'b',
  what: 'inserted',
  cell_type: 'markdown',
  after: '# x',
  group: 1
};

function edit(...cells: CellEdit[]): RunnableAction {
  return {
    type: 'NotebookEditAction',
    id: 0,
    path: 'a.ipynb',
    operations: [],
    cells
  };
}

describe('canBeTried', () => {
  it('needs code that an edit changes and that is not refused', () => {
    expect(canBeTried(edit(CODE, NOTES), AS_IT_IS, GREEN)).toBe(true);
    expect(canBeTried(edit(NOTES), AS_IT_IS, GREEN)).toBe(false);
    const deleted = { ...CODE, after: null };
    expect(canBeTried(edit(deleted), AS_IT_IS, GREEN)).toBe(false);
    const refused = withGroup(AS_IT_IS, 0, false);
    expect(canBeTried(edit(CODE, NOTES), refused, GREEN)).toBe(false);
    const asBefore = withSource(AS_IT_IS, CODE, 'x = 1');
    expect(canBeTried(edit(CODE), asBefore, GREEN)).toBe(false);
  });

  it('needs an edit of a notebook in Python', () => {
    const r = { ...edit(CODE), is_python: false } as RunnableAction;
    expect(canBeTried(r, AS_IT_IS, GREEN)).toBe(false);
  });

  it('is of a run in the person’s own Python kernel', () => {
    const run = { type: 'NotebookRunAction', id: 0, path: 'a.ipynb' } as const;
    const found = { id: '1', name: 'R', language: 'R' };
    expect(canBeTried(run, AS_IT_IS, GREEN)).toBe(true);
    expect(canBeTried({ ...run, found }, AS_IT_IS, GREEN)).toBe(false);
    expect(canBeTried({ ...run, kernel: 'sandbox' }, AS_IT_IS, GREEN)).toBe(
      false
    );
    const cell = { type: 'IPythonRunCellAction', id: 0, code: '1' } as const;
    expect(canBeTried(cell, AS_IT_IS, GREEN)).toBe(false);
  });

  it('is not where nothing may be run, or there is no sandbox', () => {
    const ask = { ...GREEN, mode: 'ask' } as const;
    expect(canBeTried(edit(CODE), AS_IT_IS, ask)).toBe(false);
    const isolation = {
      type: 'IsolationObservation',
      level: 'red'
    } as unknown as Parameters<typeof canBeTried>[2]['isolation'];
    expect(canBeTried(edit(CODE), AS_IT_IS, { ...GREEN, isolation })).toBe(
      false
    );
  });
});

describe('isOutdated', () => {
  const planned = [{ id: 'a', rev: '1', source: 'x = 2', position: 0 }];
  const item = {
    action: edit(CODE, NOTES),
    dryRun: { id: 1, planned, result: null }
  };

  it('is what was tried when the person chooses otherwise', () => {
    expect(isOutdated(item, AS_IT_IS)).toBe(false);
    const other = withSource(AS_IT_IS, CODE, 'x = 3');
    expect(isOutdated(item, other)).toBe(true);
    expect(isOutdated(item, withSource(other, CODE, 'x = 2'))).toBe(false);
    expect(isOutdated(item, withGroup(AS_IT_IS, 0, false))).toBe(true);
    // Text is not tried.
    expect(isOutdated(item, withGroup(AS_IT_IS, 1, false))).toBe(false);
    expect(isOutdated({ ...item, dryRun: null }, other)).toBe(false);
  });
});
