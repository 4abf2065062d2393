import { diff } from '@codemirror/merge';
import type { ISharedBaseCell } from '@jupyter/ydoc';

/**
 * Limits for two long texts that have little in common: then more is replaced than has to be.
 */
const LIMITS = { scanLimit: 1000, timeout: 200 };

/**
 * Make a cell's source another text by touching only what differs, so that cursors stay.
 */
export function rewrite(cell: ISharedBaseCell, source: string): void {
  const before = cell.getSource();
  const changes = diff(before, source, LIMITS);
  for (const change of [...changes].reverse()) {
    let { fromA, toA, fromB, toB } = change;
    // Half a surrogate pair would be lost in the shared model.
    if (splitsPair(before, fromA) || splitsPair(source, fromB)) {
      fromA--;
      fromB--;
    }
    if (splitsPair(before, toA) || splitsPair(source, toB)) {
      toA++;
      toB++;
    }
    cell.updateSource(fromA, toA, source.slice(fromB, toB));
  }
}

function splitsPair(text: string, index: number): boolean {
  return (
    index > 0 && index < text.length && text.codePointAt(index - 1)! > 0xffff
  );
}
