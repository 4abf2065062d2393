import type { Cell } from '@jupyterlab/cells';
import type { Notebook, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { openHandsIcon } from '../icon';
import { markText } from './marktext';
import { isMarked, provenanceOf } from './provenance';

const MARKED = 'jp-mod-openHandsMarked';
const MARK = 'jp-OpenHands-mark';

/**
 * Marks the cells of notebooks that the agent changed and nobody has accepted yet.
 */
export class Marks {
  constructor(
    private readonly _trans: TranslationBundle,
    /** Called when a cell was marked, or is not any more. */
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
    content.modelContentChanged.connect(() => this._take(content));
    content.modelChanged.connect(follow);
    follow();
  }

  private _take(notebook: Notebook): void {
    for (const cell of notebook.widgets) {
      if (!this._known.has(cell)) {
        this._known.add(cell);
        const { metadataChanged } = cell.model;
        const draw = (): void => this._draw(cell);
        metadataChanged.connect(draw);
        cell.disposed.connect(() => metadataChanged.disconnect(draw));
        draw();
      }
    }
  }

  private _draw(cell: Cell): void {
    const { model } = cell;
    const marked = isMarked(model);
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
    this._onChange();
  }

  private readonly _known = new WeakSet<Cell>();
}
