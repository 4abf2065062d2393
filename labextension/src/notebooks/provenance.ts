import type { ICellModel } from '@jupyterlab/cells';
import { isRecord } from '../model/records';

/**
 * Key of a cell's metadata under which stands where its source comes from.
 */
const KEY = 'openhands';

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
  return isRecord(found) ? found : null;
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
    cell.setMetadata(KEY, { ...provenanceOf(cell), accepted: true });
  }
}

/**
 * Forget what a cell's metadata says of the agent.
 */
export function strip(cell: Metadata): void {
  if (cell.getMetadata(KEY) !== undefined) {
    cell.deleteMetadata(KEY);
  }
}
