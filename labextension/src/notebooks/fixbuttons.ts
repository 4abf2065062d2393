import type { Cell, ICodeCellModel } from '@jupyterlab/cells';
import type { Notebook, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { openHandsIcon } from '../icon';
import { showsError } from './errors';

const FAILED = 'jp-mod-openHandsFailed';

type Outputs = ICodeCellModel['outputs'];

/**
 * Puts a button under each cell of a view of a notebook that shows an error.
 *
 * A notebook may have thousands of cells. All are gone through when cells come or go only; else
 * just those are looked at whose outputs changed.
 */
export class FixButtons {
  constructor(
    private readonly _trans: TranslationBundle,
    panel: NotebookPanel,
    private readonly _fix: (cell: Cell) => void,
    /** Called when a cell has an error, or has none any more. */
    private readonly _onChange: () => void
  ) {
    this._notebook = panel.content;
    if (!this._notebook.isDisposed) {
      this._notebook.modelChanged.connect(this._follow);
      this._follow();
    }
  }

  private readonly _follow = (): void => {
    const cells = this._notebook.model?.cells;
    cells?.changed.connect(this._take);
    this._notebook.disposed.connect(() =>
      cells?.changed.disconnect(this._take)
    );
    this._take();
  };

  /**
   * Take in the cells that are new, and the places of the others.
   */
  private readonly _take = (): void => {
    for (const cell of this._notebook.widgets) {
      if (cell.model.type === 'code' && !this._known.has(cell)) {
        this._known.add(cell);
        const { outputs } = cell.model as ICodeCellModel;
        this._cells.set(outputs, cell);
        outputs.changed.connect(this._onOutputs);
        cell.disposed.connect(() => {
          outputs.changed.disconnect(this._onOutputs);
          this._buttons.delete(cell);
        });
        if (showsError(cell.model)) {
          this._mark(cell);
        }
      }
    }
    this._tellPlaces();
  };

  /**
   * What a cell puts out may come in thousands of pieces: they are looked at once a frame.
   */
  private readonly _onOutputs = (outputs: Outputs): void => {
    if (!this._changed.size) {
      requestAnimationFrame(() => this._look());
    }
    this._changed.add(outputs);
  };

  private _look(): void {
    const cells = [...this._changed].map(outputs => this._cells.get(outputs)!);
    this._changed.clear();
    const differing = cells.filter(
      cell =>
        !cell.isDisposed && showsError(cell.model) !== this._buttons.has(cell)
    );
    for (const cell of differing) {
      if (this._buttons.has(cell)) {
        this._unmark(cell);
      } else {
        this._mark(cell);
      }
    }
    if (differing.length) {
      this._tellPlaces();
    }
  }

  private _mark(cell: Cell): void {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'jp-OpenHands-fix';
    button.append(
      openHandsIcon.element({ className: 'jp-OpenHands-icon', tag: 'span' }),
      this._trans.__('Fix with OpenHands')
    );
    button.addEventListener('click', () => this._fix(cell));
    cell.addClass(FAILED);
    // After all that Lumino keeps there by number.
    cell.node.append(button);
    this._buttons.set(cell, button);
    this._onChange();
  }

  private _unmark(cell: Cell): void {
    const button = this._buttons.get(cell)!;
    if (button === document.activeElement) {
      cell.node.focus();
    }
    button.remove();
    cell.removeClass(FAILED);
    this._buttons.delete(cell);
    this._onChange();
  }

  /**
   * Name the cells by their places for those who do not see them.
   */
  private _tellPlaces(): void {
    if (this._buttons.size) {
      this._notebook.widgets.forEach((cell, index) => {
        const label = this._trans.__('Fix with OpenHands: cell %1', index + 1);
        this._buttons.get(cell)?.setAttribute('aria-label', label);
      });
    }
  }

  private readonly _buttons = new Map<Cell, HTMLButtonElement>();
  private readonly _cells = new WeakMap<Outputs, Cell>();
  private readonly _changed = new Set<Outputs>();
  private readonly _known = new WeakSet<Cell>();
  private readonly _notebook: Notebook;
}
