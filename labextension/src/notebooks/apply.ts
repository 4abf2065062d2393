import type {
  YBaseCell,
  YCodeCell,
  YNotebook,
  SharedCell
} from '@jupyter/ydoc';
import type { IBaseCellMetadata, IOutput } from '@jupyterlab/nbformat';
import type { PartialJSONObject } from '@lumino/coreutils';
import type { IApplied, IChange, IMismatch, ISetCell, Step } from './change';
import { TRUSTED } from './change';
import type { ICellText } from './check';
import { findMismatch } from './check';
import { cellRevOnce, notebookRev, outputsRev } from './revisions';
import { rewrite } from './source';

/**
 * The minor version of nbformat 4 from which on cells have ids.
 */
const MINOR_WITH_IDS = 5;

type Cell = YBaseCell<IBaseCellMetadata>;

/**
 * Make a change in a shared notebook, whole or not at all, as one step of its undo history
 * unless it is not to be undone.
 *
 * @param notebook The notebook.
 *
 * @param change What is to be done.
 *
 * @param distrust Called with the id of a cell before it gets outputs that a change brings.
 */
export function applyChange(
  notebook: YNotebook,
  change: IChange,
  distrust: (id: string) => void = () => undefined
): IApplied | IMismatch {
  const mismatch = findMismatch(textsOf(notebook), change);
  if (mismatch) {
    return mismatch;
  }
  const performance = new Performance(notebook);
  // Not in the middle: JupyterLab then makes all outputs of a cell anew.
  change.steps.filter(bringsOutputs).forEach(step => distrust(step.id));
  const undoable = change.undoable ?? true;
  if (undoable) {
    // Otherwise what the person typed a moment ago would be undone together with it.
    notebook.undoManager.stopCapturing();
  }
  notebook.transact(() => {
    change.steps.forEach(step => performance.do(step));
    // Earlier formats have no ids: the next ones to read the file could not know the cells again.
    notebook.nbformat_minor = Math.max(notebook.nbformat_minor, MINOR_WITH_IDS);
  }, undoable);
  if (undoable) {
    notebook.undoManager.stopCapturing();
  }
  const after = textsOf(notebook);
  const byId = new Map(after.map(cell => [cell.id, cell]));
  const revs: Record<string, string> = {};
  for (const id of performance.touched) {
    const cell = byId.get(id);
    if (cell) {
      revs[id] = cell.rev();
    }
  }
  return { type: 'applied', nb_rev: notebookRev(after), revs };
}

/**
 * What revisions are made of.
 */
export function textsOf(notebook: YNotebook): ICellText[] {
  return notebook.cells.map(cell => {
    const text = { cell_type: cell.cell_type, source: cell.getSource() };
    return {
      id: cell.id,
      ...text,
      rev: () => cellRevOnce(cell, text),
      outputsRev: () => outputsRev(cell.toJSON() as Record<string, unknown>)
    };
  });
}

/**
 * Does steps inside of one transaction, during which the notebook's own list of cells stays as it
 * was before.
 */
class Performance {
  constructor(private readonly _notebook: YNotebook) {
    this._cells = [..._notebook.cells];
  }

  /**
   * Ids of the cells that were inserted, moved or set.
   */
  readonly touched = new Set<string>();

  do(step: Step): void {
    switch (step.type) {
      case 'insert':
        this._insert(this._behind(step.after), withoutTrust(step.cell));
        this.touched.add(step.cell.id);
        break;
      case 'delete':
        this._remove(this._index(step.id));
        break;
      case 'move':
        this._move(step.id, step.after);
        break;
      case 'set':
        this._set(step);
        this.touched.add(step.id);
        break;
    }
  }

  private _move(id: string, after: string | null): void {
    if (id !== after) {
      const index = this._index(id);
      const cell = this._cells[index].toJSON();
      this._remove(index);
      this._insert(this._behind(after), cell);
      this.touched.add(id);
    }
  }

  private _set(step: ISetCell): void {
    const index = this._index(step.id);
    let cell = this._cells[index];
    if (step.cell_type && step.cell_type !== cell.cell_type) {
      const retyped = inType(cell, step.cell_type);
      this._remove(index);
      cell = this._insert(index, withoutTrust(retyped));
    }
    if (typeof step.source === 'string') {
      rewrite(cell, step.source);
    }
    mergeMetadata(cell, step.metadata ?? {});
    if (cell.cell_type === 'code') {
      this._setOutputs(cell as YCodeCell, step);
    }
  }

  private _setOutputs(cell: YCodeCell, step: ISetCell): void {
    if (step.outputs) {
      if (bringsOutputs(step)) {
        cell.deleteMetadata(TRUSTED);
      }
      // Behind those that go: JupyterLab would take text in front of them for more of theirs.
      const { length } = cell.getOutputs();
      cell.updateOutputs(length, length, step.outputs.map(withTextJoined));
      cell.updateOutputs(0, length);
    }
    if (step.execution_count !== undefined) {
      cell.execution_count = step.execution_count;
    }
  }

  private _insert(index: number, cell: SharedCell.Cell): Cell {
    const [inserted] = this._notebook.insertCells(index, [cell]);
    this._cells.splice(index, 0, inserted);
    return inserted;
  }

  private _remove(index: number): void {
    this._notebook.deleteCellRange(index, index + 1);
    this._cells.splice(index, 1);
  }

  private _behind(id: string | null): number {
    return id === null ? 0 : this._index(id) + 1;
  }

  private _index(id: string): number {
    return this._cells.findIndex(cell => cell.id === id);
  }

  private readonly _cells: Cell[];
}

function bringsOutputs(step: Step): step is ISetCell {
  return step.type === 'set' && (step.outputs?.length ?? 0) > 0;
}

/**
 * A cell with another type, with what nbformat lets a cell of that type have.
 */
function inType(cell: Cell, type: string): SharedCell.Cell {
  const { id, source, metadata, attachments } = cell.toJSON() as Record<
    string,
    unknown
  >;
  const retyped = { id, cell_type: type, source, metadata };
  return (type === 'code'
    ? retyped
    : { ...retyped, attachments }) as unknown as SharedCell.Cell;
}

function withoutTrust(cell: SharedCell.Cell): SharedCell.Cell {
  const metadata: PartialJSONObject = { ...cell.metadata };
  delete metadata[TRUSTED];
  const outputs = (cell as { outputs?: IOutput[] }).outputs;
  return {
    ...cell,
    metadata,
    ...(outputs ? { outputs: outputs.map(withTextJoined) } : {})
  };
}

/**
 * An output whose stream is one text: the shared model would join its lines with commas.
 */
function withTextJoined(output: IOutput): IOutput {
  return Array.isArray(output.text)
    ? { ...output, text: output.text.join('') }
    : output;
}

function mergeMetadata(cell: Cell, metadata: PartialJSONObject): void {
  for (const [key, value] of Object.entries(metadata)) {
    if (key === TRUSTED || value === undefined) {
      continue;
    }
    if (value === null) {
      cell.deleteMetadata(key);
    } else {
      cell.setMetadata(key, value);
    }
  }
}
