import type { TranslationBundle } from '@jupyterlab/translation';
import { wantedCells } from './cellchoice';
import type { ICellChoice } from './cellchoice';
import type {
  CellEdit,
  NotebookEditAction,
  NotebookEditObservation
} from './events';
import { revealOnOneLine } from './inert';
import type { NotebookAction } from './items';
import type { IActionText } from './texts';

/**
 * Name what the agent does with a notebook.
 */
export function describeNotebookAction(
  trans: TranslationBundle,
  action: NotebookAction
): IActionText {
  switch (action.type) {
    case 'NotebookListAction':
      return {
        verb: trans.__('List the notebooks'),
        object: revealOnOneLine(action.glob ?? '')
      };
    case 'NotebookOutlineAction':
      return {
        verb: trans.__('Look over'),
        object: revealOnOneLine(action.path)
      };
    case 'NotebookReadAction':
      return {
        verb: trans.__('Read cells of'),
        object: revealOnOneLine(action.path)
      };
    case 'NotebookSearchAction':
      return {
        verb: trans.__('Search a notebook for'),
        object: revealOnOneLine(action.pattern)
      };
    case 'NotebookOutputAction':
      return {
        verb: trans.__('Read an output of'),
        object: revealOnOneLine(action.path)
      };
    case 'NotebookEditAction':
      return {
        verb: editVerb(trans, action),
        object: revealOnOneLine(action.path)
      };
    case 'NotebookCreateAction':
      return {
        verb: trans.__('Make the notebook'),
        object: revealOnOneLine(action.path)
      };
    case 'NotebookUndoAction':
      return {
        verb: trans.__('Take edits back in'),
        object: revealOnOneLine(action.path)
      };
    case 'NotebookSaveAction':
      return { verb: trans.__('Save'), object: revealOnOneLine(action.path) };
  }
}

function editVerb(
  trans: TranslationBundle,
  { cells = [] }: NotebookEditAction
): string {
  return cells.length > 0
    ? trans._n('Edit 1 cell in', 'Edit %1 cells in', cells.length)
    : trans.__('Edit cells in');
}

/**
 * Say what becomes of a cell.
 */
export function cellEditText(trans: TranslationBundle, cell: CellEdit): string {
  const place = typeof cell.position === 'number' ? `@${cell.position}` : '';
  const type = typeText(trans, cell.cell_type);
  switch (cell.what) {
    case 'inserted':
      return trans.__('New %1 %2', type, place).trim();
    case 'changed':
      return trans.__('Change %1 %2', type, place).trim();
    case 'moved':
      return trans.__('Move %1 to %2', type, place).trim();
    case 'deleted':
      return trans.__('Delete %1', type);
  }
}

/**
 * Say what becomes of a cell that an undo takes back.
 */
export function cellBackText(trans: TranslationBundle, cell: CellEdit): string {
  const place = typeof cell.position === 'number' ? `@${cell.position}` : '';
  const type = typeText(trans, cell.cell_type);
  switch (cell.what) {
    case 'inserted':
      return trans.__('The %1 %2 comes back', type, place);
    case 'changed':
      return trans.__('The %1 %2 is changed back', type, place);
    case 'moved':
      return trans.__('The %1 is moved back to %2', type, place);
    case 'deleted':
      return trans.__('The new %1 is removed', type);
  }
}

function typeText(trans: TranslationBundle, type: string): string {
  switch (type) {
    case 'code':
      return trans.__('code cell');
    case 'markdown':
      return trans.__('Markdown cell');
    case 'raw':
      return trans.__('raw cell');
    default:
      return trans.__('%1 cell', revealOnOneLine(type));
  }
}

/**
 * Name an approval by how much of an edit it is for.
 */
export function approvalText(
  trans: TranslationBundle,
  cells: readonly CellEdit[],
  choice: ICellChoice
): string {
  const wanted = wantedCells(cells, choice);
  const own = wanted.some(({ id }) => choice.sources.has(id));
  if (wanted.length === cells.length) {
    return own ? trans.__('Approve with your text') : trans.__('Approve');
  }
  return own
    ? trans.__(
        'Approve %1 of %2 cells with your text',
        wanted.length,
        cells.length
      )
    : trans.__('Approve %1 of %2 cells', wanted.length, cells.length);
}

/**
 * Say in a few words what became of a notebook that was edited, made or saved.
 */
export function editedText(
  trans: TranslationBundle,
  { cells = [], rejected = [] }: NotebookEditObservation
): string {
  if (cells.length + rejected.length === 0) {
    return trans.__('Done');
  }
  const changed = trans._n('%1 cell changed', '%1 cells changed', cells.length);
  return rejected.length > 0
    ? trans.__('%1, %2 rejected', changed, rejected.length)
    : changed;
}
