import type { SharedCell } from '@jupyter/ydoc';
import type { IOutput } from '@jupyterlab/nbformat';
import type { PartialJSONObject } from '@lumino/coreutils';

/**
 * A new cell behind the one with the id `after`, or at the top.
 */
export interface IInsertCell {
  type: 'insert';
  after: string | null;
  cell: SharedCell.Cell & { id: string; source: string };
}

/**
 * A cell to remove, which must have this revision.
 */
export interface IDeleteCell {
  type: 'delete';
  id: string;
  rev: string;
}

/**
 * A cell to put behind the one with the id `after`, or at the top.
 */
export interface IMoveCell {
  type: 'move';
  id: string;
  after: string | null;
}

/**
 * What to change of a cell, which must have this revision; what is left out or null stays, except
 * for a count, which may be null.
 */
export interface ISetCell {
  type: 'set';
  id: string;
  rev: string;
  source?: string | null;
  cell_type?: string | null;
  /** Merged key by key; null removes a key. */
  metadata?: PartialJSONObject | null;
  outputs?: IOutput[] | null;
  execution_count?: number | null;
  /** That its outputs must have before the change. */
  outputs_rev?: string | null;
}

export type Step = IInsertCell | IDeleteCell | IMoveCell | ISetCell;

/**
 * Steps that are done in order, each on what the ones before it have left. See
 * `notebooks/changes.py`, where it comes from.
 */
export interface IChange {
  steps: Step[];
  nb_rev?: string | null;
  /** Whether a person can undo it; so it is if left out. */
  undoable?: boolean;
}

/**
 * A cell that is not as a change expects it.
 */
export interface ICellMismatch {
  id: string;
  reason: 'changed' | 'outputs' | 'gone' | 'exists';
  rev: string | null;
  cell_type: string | null;
  source: string | null;
}

/**
 * Why nothing was changed.
 */
export interface IMismatch {
  type: 'mismatch';
  cells: ICellMismatch[];
  nb_rev: string;
}

/**
 * A change that was made.
 */
export interface IApplied {
  type: 'applied';
  nb_rev: string;
  /** Of each cell that was inserted, moved or set. */
  revs: Record<string, string>;
}

/**
 * Jupyter's own mark on a cell whose outputs may run scripts: no change may set it.
 */
export const TRUSTED = 'trusted';
