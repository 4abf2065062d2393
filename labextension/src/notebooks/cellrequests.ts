import type { TranslationBundle } from '@jupyterlab/translation';
import { handOver } from '../model/handover';
import { revealOnOneLine } from '../model/inert';
import type { PanelContent } from '../panel/widget';
import type { ILoaded } from '../sidebar';
import type { ICellPlace } from './context';
import type { OpenedNotebooks } from './opened';

/**
 * What a person asks of the agent about a cell, brought into the panel.
 */
export class CellRequests {
  constructor(
    private readonly _opened: OpenedNotebooks,
    private readonly _trans: TranslationBundle,
    /** Brings the panel to the front. */
    private readonly _open: () => Promise<ILoaded>
  ) {}

  /**
   * Begin a message about a cell, which the person writes.
   */
  async ask(place: ICellPlace): Promise<void> {
    const text = this._trans.__('About cell %1 of %2: ', ...this._name(place));
    const { content, model, started } = await this._open();
    await started;
    model.propose(text);
    focus(content);
  }

  /**
   * Have the error of a cell fixed; see `handOver`.
   */
  async fix(place: ICellPlace): Promise<void> {
    const name = this._name(place);
    const text = this._trans.__('Fix the error in cell %1 of %2', ...name);
    const { content, context, model, started } = await this._open();
    await started;
    await handOver(
      model,
      text,
      async () => (await context?.collect(model.contextOff, place)) ?? []
    );
    focus(content);
  }

  /**
   * The cell and its notebook, which may be called anything, so it is quoted.
   */
  private _name({ panel, cell }: ICellPlace): [string, string] {
    const path = revealOnOneLine(this._opened.path(panel));
    const ids = panel.content.widgets.map(widget => widget.model.id);
    return [JSON.stringify(nameOf(ids, cell.model.id)), JSON.stringify(path)];
  }
}

/**
 * Go to the panel's input, once JupyterLab has done with the key that was pressed: with each in a
 * notebook, it sees to it that the focus is there.
 */
function focus(content: PanelContent): void {
  setTimeout(() => content.focusInput());
}

/**
 * Ids as nbformat allows them; another one could be a text that is meant for the agent.
 */
const ID = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * Characters of an id that are enough to know a cell by, unless another one begins alike.
 */
const SHORT = 8;

/**
 * What the agent knows a cell by.
 */
export function nameOf(ids: readonly string[], id: string): string {
  if (!ID.test(id)) {
    return `@${ids.indexOf(id)}`;
  }
  const short = id.slice(0, SHORT);
  return ids.filter(other => other.startsWith(short)).length > 1 ? id : short;
}
