import type { ICellModel } from '@jupyterlab/cells';
import { isRecord } from '../model/records';

/**
 * Key of a cell's metadata under which stands where its source comes from.
 */
const KEY = 'openhands';

/**
 * Key in it under which stands what a task of the cell was answered with.
 */
const TASK = 'task';

type Metadata = Pick<
  ICellModel,
  'deleteMetadata' | 'getMetadata' | 'setMetadata'
>;

/**
 * What a cell's metadata says of an agent that wrote its source; null for nothing. The notebook may
 * come from anybody, and claim anything.
 */
export function provenanceOf(cell: Metadata): Record<string, unknown> | null {
  const found: unknown = cell.getMetadata(KEY);
  if (!isRecord(found)) {
    return null;
  }
  // A cell with a task, and its answer, is the person's own for all that.
  const told = Object.entries(found).filter(([key]) => key !== TASK);
  return told.length > 0 ? Object.fromEntries(told) : null;
}

/**
 * Whether a person has yet to accept what the agent wrote.
 */
export function isMarked(cell: Metadata): boolean {
  const found = provenanceOf(cell);
  return found !== null && found.accepted !== true;
}

/**
 * Keep what a cell's metadata says of the agent, as accepted.
 */
export function accept(cell: Metadata): void {
  if (isMarked(cell)) {
    cell.setMetadata(KEY, { ...cell.getMetadata(KEY), accepted: true });
  }
}

/**
 * Whether a cell's metadata says anything of the agent, be it the answer to a task of the cell.
 */
export function isSigned(cell: Metadata): boolean {
  return cell.getMetadata(KEY) !== undefined;
}

/**
 * Forget what a cell's metadata says of the agent.
 */
export function strip(cell: Metadata): void {
  if (isSigned(cell)) {
    cell.deleteMetadata(KEY);
  }
}
