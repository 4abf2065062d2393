/**
 * What goes with a message of the notebooks that are open, without what only a kernel knows.
 */
import type { Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type {
  CellContext,
  ErrorContext,
  NotebookContext,
  SelectionContext
} from '../model/events';
import type { IOutputs } from './errors';
import { indexOfError } from './errors';
import type { OpenedNotebooks } from './opened';

/**
 * Lengths that the server accepts with some room: openhands_jupyter/server/context.py.
 */
const LONGEST_PATH = 4000;
const LONGEST_NAME = 180;
const LONGEST_MESSAGE = 1000;
const LONGEST_TRACEBACK = 3000;
const LONGEST_SOURCE = 6000;
const MOST_NOTEBOOKS = 30;

/**
 * The notebooks that are open, those on the screen first, and of them the one the person is in.
 */
export function notebookParts(opened: OpenedNotebooks): NotebookContext[] {
  const { current } = opened;
  const path = current && opened.path(current);
  return opened
    .describe()
    .sort((a, b) => Number(b.path === path) - Number(a.path === path))
    .slice(0, MOST_NOTEBOOKS)
    .map(({ path, visible, dirty, kernel }) => ({
      kind: 'notebook',
      path: cut(path, LONGEST_PATH),
      // As the server leaves out what is false.
      ...(visible && { visible }),
      ...(dirty && { dirty }),
      ...(kernel && {
        kernel: {
          name: cut(kernel.name, LONGEST_NAME),
          state: cut(kernel.state, LONGEST_NAME)
        }
      })
    }));
}

/**
 * A cell, what is selected there, and its error, else the last one of its notebook.
 *
 * @param cell - By default the one that the person is in.
 */
export function cellParts(
  path: string,
  panel: NotebookPanel,
  cell: Cell | null = panel.content.activeCell
): (CellContext | SelectionContext | ErrorContext)[] {
  const parts = [cellPart(path, cell), selectionPart(path, cell)];
  return [...parts, errorPart(path, panel, cell)].filter(part => part !== null);
}

function cellPart(path: string, cell: Cell | null): CellContext | null {
  const model = cell?.model;
  return model
    ? {
        kind: 'cell',
        path: cut(path, LONGEST_PATH),
        cell: cut(model.id, LONGEST_NAME),
        cell_type: cut(model.type, LONGEST_NAME),
        source: cut(model.sharedModel.getSource(), LONGEST_SOURCE)
      }
    : null;
}

function selectionPart(
  path: string,
  cell: Cell | null
): SelectionContext | null {
  const editor = cell?.editor;
  // Of a cell that is shown as text, nobody sees what is selected in its source.
  if (!editor || ('rendered' in cell && cell.rendered)) {
    return null;
  }
  const { start, end } = editor.getSelection();
  const text = cell.model.sharedModel
    .getSource()
    .slice(editor.getOffsetAt(start), editor.getOffsetAt(end));
  return text.trim()
    ? {
        kind: 'selection',
        path: cut(path, LONGEST_PATH),
        cell: cut(cell.model.id, LONGEST_NAME),
        first_line: start.line + 1,
        last_line: end.line + 1,
        text: cut(text, LONGEST_SOURCE)
      }
    : null;
}

/**
 * A code cell as far as it matters here.
 */
interface ICodeCell {
  id: string;
  type: string;
  executionCount: number | null;
  outputs: IOutputs;
}

interface IFailed {
  cell: ICodeCell;
  /** Where the error stands among its outputs. */
  index: number;
}

/**
 * The error of a cell; where it shows none, that of the cell that was run last, of all that do.
 */
function errorPart(
  path: string,
  panel: NotebookPanel,
  cell: Cell | null
): ErrorContext | null {
  const found =
    (cell && failed(cell.model)) ??
    [...panel.context.model.cells]
      .map(failed)
      .filter(other => other !== null)
      .reduce<IFailed | null>(later, null);
  return found && errorOf(path, found);
}

function failed(model: unknown): IFailed | null {
  const cell = model as ICodeCell;
  const index = cell.type === 'code' ? indexOfError(cell.outputs) : -1;
  return index >= 0 ? { cell, index } : null;
}

function later(one: IFailed | null, other: IFailed): IFailed {
  return one && count(one.cell) > count(other.cell) ? one : other;
}

function errorOf(path: string, { cell, index }: IFailed): ErrorContext {
  const output = cell.outputs.get(index).toJSON() as Record<string, unknown>;
  const lines: unknown[] = Array.isArray(output.traceback)
    ? output.traceback
    : [];
  return {
    kind: 'error',
    path: cut(path, LONGEST_PATH),
    cell: cut(cell.id, LONGEST_NAME),
    ename: cut(text(output.ename), LONGEST_NAME),
    evalue: cut(text(output.evalue), LONGEST_MESSAGE),
    traceback: cut(lines.map(text).join('\n'), LONGEST_TRACEBACK)
  };
}

function count(cell: ICodeCell): number {
  return cell.executionCount ?? 0;
}

const ESCAPE = String.fromCharCode(27);
const ESCAPE_SEQUENCE = new RegExp(`${ESCAPE}\\[[0-?]*[ -/]*[@-~]`, 'g');

/**
 * A text out of a notebook, which may hold anything in its place, without colours.
 */
function text(value: unknown): string {
  return typeof value === 'string' ? value.replace(ESCAPE_SEQUENCE, '') : '';
}

/**
 * A text, or its beginning and its end with the cut said between them; half a surrogate pair, which
 * JSON cannot carry to the server, is U+FFFD.
 */
export function cut(text: string, longest: number): string {
  const half = Math.floor(longest / 2);
  const leftOut = text.length - 2 * half;
  const shown =
    leftOut > 0
      ? `${text.slice(0, half)}\n[… ${leftOut} characters left out …]\n${text.slice(-half)}`
      : text;
  return shown.replace(/\p{Surrogate}/gu, '\ufffd');
}
