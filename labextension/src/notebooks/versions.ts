import type { YBaseCell, YNotebook } from '@jupyter/ydoc';
import type { IBaseCellMetadata } from '@jupyterlab/nbformat';
import { UUID } from '@lumino/coreutils';

type Cell = YBaseCell<IBaseCellMetadata>;

/**
 * What is another in a notebook since a state of it that somebody else knows.
 */
export class Versions {
  constructor(private readonly _notebook: YNotebook) {
    _notebook.changed.connect((_, { cellsChange }) => {
      if (cellsChange) {
        this._listChanged = ++this._now;
        this._follow();
      }
    });
    this._follow();
  }

  /**
   * The versions of a notebook, which are counted from the first time that they are asked for.
   */
  static of(notebook: YNotebook): Versions {
    let found = KNOWN.get(notebook);
    if (!found) {
      KNOWN.set(notebook, (found = new Versions(notebook)));
    }
    return found;
  }

  /**
   * What the present state is called; null where cells cannot be told from each other.
   */
  get current(): string | null {
    return new Set(this.ids).size === this._notebook.cells.length
      ? `${this._name}:${this._now}`
      : null;
  }

  get ids(): string[] {
    return this._notebook.cells.map(cell => cell.id);
  }

  /**
   * What is another since a state; null if it is none of this notebook.
   */
  since(version: string | null): IChanges | null {
    const [name, number] = version?.split(':') ?? [];
    if (name !== this._name || this.current === null) {
      return null;
    }
    const then = Number(number);
    return {
      isOther: cell => (this._changed.get(cell) ?? 0) > then,
      order: this._listChanged > then
    };
  }

  private _follow(): void {
    for (const cell of this._notebook.cells) {
      if (!this._changed.has(cell)) {
        this._changed.set(cell, this._now);
        this._observe(cell);
      }
    }
  }

  private _observe(cell: Cell): void {
    let { id } = cell;
    // The signal of a cell does not tell of outputs that a kernel sends.
    cell.ymodel.observeDeep(() => {
      this._changed.set(cell, ++this._now);
      if (cell.id !== id) {
        // As the room of an old notebook gives it one that is saved.
        ({ id } = cell);
        this._listChanged = this._now;
      }
    });
  }

  private readonly _name = UUID.uuid4();
  private readonly _changed = new WeakMap<Cell, number>();
  private _listChanged = 0;
  private _now = 0;
}

export interface IChanges {
  isOther(cell: Cell): boolean;
  /** Whether there are other cells, or in another order. */
  order: boolean;
}

const KNOWN = new WeakMap<YNotebook, Versions>();
