import { digest } from 'lib0/hash/sha256';
import { isRecord } from '../model/records';

/**
 * What a revision is made of.
 */
export interface IRevised {
  cell_type: string;
  source: string;
}

const DIGITS = 8;

/**
 * The revision of what a person writes in a cell, as `notebooks/revisions.py` has it.
 *
 * It is computed here and not with the browser's own `crypto.subtle`, which answers later, when the
 * person may have typed something else, and not at all over plain HTTP.
 */
export function cellRev(cell: IRevised): string {
  return digits(`${cell.cell_type}\0${cell.source}`);
}

/**
 * As `cellRev`, which is computed anew only when the cell is another one than the last time.
 *
 * @param known What stands for the cell as long as it is there.
 */
export function cellRevOnce(known: object, cell: IRevised): string {
  const last = REVS.get(known);
  if (last?.source === cell.source && last.cell_type === cell.cell_type) {
    return last.rev;
  }
  const { cell_type, source } = cell;
  const rev = cellRev(cell);
  REVS.set(known, { cell_type, source, rev });
  return rev;
}

const REVS = new WeakMap<object, IRevised & { rev: string }>();

/**
 * The revision of a whole notebook: which cells, in which order, in which state.
 */
export function notebookRev(
  cells: Iterable<{ id: string; rev(): string }>
): string {
  let lines = '';
  for (const cell of cells) {
    lines += `${cell.id}:${cell.rev()}\n`;
  }
  return digits(lines);
}

/**
 * The revision of what running a cell has put there, as `notebooks/revisions.py` has it, but for
 * numbers that Python writes in another way: it is compared only with what was computed here.
 */
export function outputsRev(cell: {
  outputs?: unknown;
  execution_count?: unknown;
}): string {
  const held = [cell.outputs ?? [], cell.execution_count ?? null];
  return digits(JSON.stringify(held, withSortedKeys));
}

function withSortedKeys(_: string, value: unknown): unknown {
  return isRecord(value)
    ? Object.fromEntries(Object.entries(value).sort(byKey))
    : value;
}

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}

function digits(text: string): string {
  const bytes = digest(new TextEncoder().encode(text));
  return Array.from(bytes.subarray(0, DIGITS / 2), byte =>
    byte.toString(16).padStart(2, '0')
  ).join('');
}
