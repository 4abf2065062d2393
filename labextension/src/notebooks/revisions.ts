import { digest } from 'lib0/hash/sha256';

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
 * The revision of a whole notebook: which cells, in which order, in which state.
 */
export function notebookRev(
  cells: Iterable<IRevised & { id: string }>
): string {
  let lines = '';
  for (const cell of cells) {
    lines += `${cell.id}:${cellRev(cell)}\n`;
  }
  return digits(lines);
}

function digits(text: string): string {
  const bytes = digest(new TextEncoder().encode(text));
  return Array.from(bytes.subarray(0, DIGITS / 2), byte =>
    byte.toString(16).padStart(2, '0')
  ).join('');
}
