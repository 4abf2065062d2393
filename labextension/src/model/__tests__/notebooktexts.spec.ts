import { AS_IT_IS, withGroup, withSource } from '../cellchoice';
import type { CellEdit } from '../events';
import type { NotebookAction } from '../items';
import {
  approvalText,
  cellEditText,
  describeNotebookAction,
  editedText
} from '../notebooktexts';
import { trans } from './translation';

const CELL: CellEdit = { id: 'a', what: 'changed', cell_type: 'code' };

describe('describeNotebookAction', () => {
  it.each<[NotebookAction, string, string]>([
    [{ type: 'NotebookListAction' }, 'List the notebooks', ''],
    [{ type: 'NotebookListAction', glob: '*x' }, 'List the notebooks', '*x'],
    [{ type: 'NotebookOutlineAction', path: 'a' }, 'Look over', 'a'],
    [{ type: 'NotebookReadAction', path: 'a' }, 'Read cells of', 'a'],
    [
      { type: 'NotebookSearchAction', path: 'a', pattern: 'x\u202e' },
      'Search a notebook for',
      'x⟨U+202E⟩'
    ],
    [
      { type: 'NotebookOutputAction', path: 'a', handle: 'out:b/0' },
      'Read an output of',
      'a'
    ],
    [
      { type: 'NotebookEditAction', path: 'a', operations: [], cells: [CELL] },
      'Edit 1 cell in',
      'a'
    ],
    [
      {
        type: 'NotebookEditAction',
        path: 'a\n',
        operations: [],
        cells: [CELL, CELL]
      },
      'Edit 2 cells in',
      'a⟨U+000A⟩'
    ],
    [
      { type: 'NotebookEditAction', path: 'a', operations: [] },
      'Edit cells in',
      'a'
    ],
    [{ type: 'NotebookCreateAction', path: 'a' }, 'Make the notebook', 'a'],
    [{ type: 'NotebookSaveAction', path: 'a' }, 'Save', 'a'],
    [{ type: 'NotebookUndoAction', path: 'a' }, 'Take edits back in', 'a']
  ])('names %j', (action, verb, object) => {
    expect(describeNotebookAction(trans, action)).toEqual({ verb, object });
  });
});

describe('cellEditText', () => {
  it.each<[Partial<CellEdit>, string]>([
    [{ position: 0 }, 'Change code cell @0'],
    [{ what: 'inserted', cell_type: 'raw', position: 2 }, 'New raw cell @2'],
    [{ what: 'moved', position: 7 }, 'Move code cell to @7'],
    [{ what: 'deleted', cell_type: 'markdown' }, 'Delete Markdown cell'],
    [{ cell_type: 'x\u200b', position: 1 }, 'Change x⟨U+200B⟩ cell @1']
  ])('says what becomes of %j', (change, text) => {
    expect(cellEditText(trans, { ...CELL, ...change })).toBe(text);
  });
});

describe('approvalText', () => {
  const cells = [CELL, { ...CELL, id: 'b', group: 1 }];

  it('names how many cells are approved where not all are', () => {
    expect(approvalText(trans, cells, AS_IT_IS)).toBe('Approve');
    expect(approvalText(trans, [], AS_IT_IS)).toBe('Approve');
    const some = withGroup(AS_IT_IS, 1, false);
    expect(approvalText(trans, cells, some)).toBe('Approve 1 of 2 cells');
  });

  it('says that the person’s text is approved', () => {
    const own = withSource(AS_IT_IS, CELL, 'mine');
    expect(approvalText(trans, cells, own)).toBe('Approve with your text');
    const some = withGroup(own, 1, false);
    expect(approvalText(trans, cells, some)).toBe(
      'Approve 1 of 2 cells with your text'
    );
    const without = withGroup(own, 0, false);
    expect(approvalText(trans, cells, without)).toBe('Approve 1 of 2 cells');
  });
});

describe('editedText', () => {
  it.each<[CellEdit[], string[], string]>([
    [[], [], 'Done'],
    [[CELL], [], '1 cell changed'],
    [[CELL, CELL], ['c'], '2 cells changed, 1 rejected'],
    [[], ['c'], '0 cells changed, 1 rejected']
  ])('counts %j and %j', (cells, rejected, text) => {
    expect(
      editedText(trans, {
        type: 'NotebookEditObservation',
        path: 'a',
        delivery: 'tab',
        nb_rev: 'r',
        cells,
        rejected
      })
    ).toBe(text);
  });
});
