import type { Cell } from '@jupyterlab/cells';
import type { Notebook, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { openHandsIcon } from '../icon';
import { markText } from './marktext';
import { isMarked, isSigned, provenanceOf } from './provenance';

const MARKED = 'jp-mod-openHandsMarked';
const MARK = 'jp-OpenHands-mark';

/**
 * What a cell says of the agent.
 */
type State = 'none' | 'signed' | 'marked';

/**
 * Marks the cells of notebooks that the agent changed and nobody has accepted yet.
 */
export class Marks {
  constructor(
    private readonly _trans: TranslationBundle,
    /** Called when there is another state of some cells. */
    private readonly _onChange: () => void
  ) {}

  /**
   * Keep the marks of a view of a notebook current.
   */
  watch({ content }: NotebookPanel): void {
    if (content.isDisposed) {
      return;
    }
    const follow = (): void => {
      content.model?.cells.changed.connect(() => this._take(content));
      this._take(content);
    };
    content.modelChanged.connect(follow);
    follow();
  }

  private _take(notebook: Notebook): void {
    let isOther = false;
    for (const cell of notebook.widgets) {
      if (!this._states.has(cell)) {
        this._states.set(cell, 'none');
        const { metadataChanged } = cell.model;
        const follow = (): void => {
          if (this._draw(cell)) {
            this._onChange();
          }
        };
        metadataChanged.connect(follow);
        cell.disposed.connect(() => metadataChanged.disconnect(follow));
        isOther = this._draw(cell) || isOther;
      }
    }
    if (isOther) {
      this._onChange();
    }
  }

  /**
   * @returns Whether the cell has another state than before.
   */
  private _draw(cell: Cell): boolean {
    const { model } = cell;
    const marked = isMarked(model);
    const state = marked ? 'marked' : isSigned(model) ? 'signed' : 'none';
    const before = this._states.get(cell);
    this._states.set(cell, state);
    cell.node.querySelector(`:scope > .${MARK}`)?.remove();
    cell.toggleClass(MARKED, marked);
    if (marked) {
      const text = markText(this._trans, provenanceOf(model) ?? {});
      const mark = openHandsIcon.element({ className: MARK, title: text });
      mark.setAttribute('role', 'img');
      mark.setAttribute('aria-label', text);
      // After all that Lumino keeps there by number.
      cell.node.append(mark);
    }
    return state !== before;
  }

  private readonly _states = new WeakMap<Cell, State>();
}
