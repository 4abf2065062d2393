/**
 * What goes with a message of the notebooks that are open, without what only a kernel knows.
 */
import type { NotebookPanel } from '@jupyterlab/notebook';
import type {
  CellContext,
  ErrorContext,
  NotebookContext,
  SelectionContext
} from '../model/events';
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
 * The cell that the person is in, what is selected there, and the last error of its notebook.
 */
export function cellParts(
  path: string,
  panel: NotebookPanel
): (CellContext | SelectionContext | ErrorContext)[] {
  const parts = [cellPart(path, panel), selectionPart(path, panel)];
  return [...parts, errorPart(path, panel)].filter(part => part !== null);
}

function cellPart(
  path: string,
  { content }: NotebookPanel
): CellContext | null {
  const model = content.activeCell?.model;
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
  { content }: NotebookPanel
): SelectionContext | null {
  const cell = content.activeCell;
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
  outputs: {
    length: number;
    get(index: number): { type: string; toJSON(): unknown };
  };
}

/**
 * The error of the cell that was run last, of all that show one.
 */
function errorPart(path: string, panel: NotebookPanel): ErrorContext | null {
  let found: { cell: ICodeCell; index: number } | null = null;
  for (const model of panel.context.model.cells) {
    const cell = model as unknown as ICodeCell;
    const index = cell.type === 'code' ? indexOfError(cell) : -1;
    if (index >= 0 && count(cell) >= (found ? count(found.cell) : 0)) {
      found = { cell, index };
    }
  }
  if (!found) {
    return null;
  }
  const { cell, index } = found;
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

function indexOfError({ outputs }: ICodeCell): number {
  for (let index = outputs.length - 1; index >= 0; index--) {
    if (outputs.get(index).type === 'error') {
      return index;
    }
  }
  return -1;
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
