import type { Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import { Throttler } from '@lumino/polling';
import type { ContextKind, ContextPart } from '../model/context';
import { kindOf } from '../model/context';
import { Observable } from '../model/observable';
import type { OpenedNotebooks } from './opened';
import { cellParts, notebookParts } from './parts';
import type { IVariables } from './variables';
import { readVariables } from './variables';

/**
 * Milliseconds in which changes are gathered.
 */
const GATHERED = 200;

/**
 * What is known of the variables of the notebook that the person is in: `none` where there is no
 * kernel that could tell them, `unread` until it is asked.
 */
export type VariablesState = 'none' | 'busy' | 'unread' | 'read';

/**
 * A cell in a view of its notebook.
 */
export interface ICellPlace {
  panel: NotebookPanel;
  cell: Cell;
}

/**
 * What would go with a message now.
 */
export class MessageContext extends Observable {
  constructor(private readonly _opened: OpenedNotebooks) {
    super();
    this._gathered = new Throttler(() => this._refresh(), {
      limit: GATHERED,
      edge: 'trailing'
    });
    _opened.changed.connect(this._onChanged);
    this._refresh();
  }

  /**
   * All that is known without asking the kernel anew.
   */
  get parts(): readonly ContextPart[] {
    return this._parts;
  }

  get variables(): VariablesState {
    const { kernel } = this;
    return !kernel || this._languages.get(kernel) !== 'python'
      ? 'none'
      : this._variables
        ? 'read'
        : kernel.status === 'idle' || this._reading
          ? 'unread'
          : 'busy';
  }

  /**
   * Ask the kernel for the variables, if it has nothing else to do.
   */
  look(): Promise<void> {
    this._reading ??= this._read().finally(() => {
      this._reading = null;
      this._refresh();
    });
    return this._reading;
  }

  /**
   * What goes with the message that is sent now.
   *
   * @param off - Kinds that the person does not send.
   * @param about - The cell that the message is about; by default the one that the person is in.
   */
  async collect(
    off: readonly ContextKind[],
    about?: ICellPlace
  ): Promise<ContextPart[]> {
    if (!off.includes('variables')) {
      await this.look();
    }
    this._refresh();
    const parts = about ? this._gather(about.panel, about.cell) : this._parts;
    return parts.filter(part => !off.includes(kindOf(part)));
  }

  close(): void {
    this._opened.changed.disconnect(this._onChanged);
    this._follow(null);
    this._gathered.dispose();
    this.dispose();
  }

  private get kernel(): Kernel.IKernelConnection | null {
    return this._current?.sessionContext.session?.kernel ?? null;
  }

  private async _read(): Promise<void> {
    const { kernel } = this;
    if (kernel && this.variables !== 'none') {
      const variables = await readVariables(kernel);
      this._variables = kernel === this.kernel ? variables : null;
    }
  }

  private _refresh(): void {
    this._follow(this._opened.current);
    this._parts = this._gather(this._current);
    this.changed();
  }

  private _gather(panel: NotebookPanel | null, cell?: Cell): ContextPart[] {
    const parts: ContextPart[] = notebookParts(this._opened);
    if (panel) {
      const path = this._opened.path(panel);
      parts.push(...cellParts(path, panel, cell));
      if (panel === this._current && this._variables?.variables.length) {
        parts.push({ kind: 'variables', path, ...this._variables });
      }
    }
    return parts;
  }

  /**
   * Follow what is typed into a notebook and put out by it, of which `OpenedNotebooks` tells
   * nothing.
   */
  private _follow(current: NotebookPanel | null): void {
    if (current !== this._current) {
      this._current?.context.model.contentChanged.disconnect(this._onChanged);
      this._current?.sessionContext.statusChanged.disconnect(this._onStatus);
      this._current = current;
      this._variables = null;
      current?.context.model.contentChanged.connect(this._onChanged);
      current?.sessionContext.statusChanged.connect(this._onStatus);
    }
    this._learnLanguage();
  }

  private _learnLanguage(): void {
    const { kernel } = this;
    if (kernel && !this._languages.has(kernel)) {
      this._languages.set(kernel, '');
      void kernel.info.then(
        info => {
          this._languages.set(kernel, info.language_info.name);
          this._onChanged();
        },
        // A kernel that died before it said so has none.
        () => undefined
      );
    }
  }

  private readonly _onChanged = (): void => void this._gathered.invoke();

  /**
   * Whatever else the kernel did than to answer us, its variables may be others now.
   */
  private readonly _onStatus = (): void => {
    if (!this._reading) {
      this._variables = null;
    }
  };

  private _current: NotebookPanel | null = null;
  private readonly _gathered: Throttler;
  private readonly _languages = new WeakMap<Kernel.IKernelConnection, string>();
  private _parts: readonly ContextPart[] = [];
  private _reading: Promise<void> | null = null;
  private _variables: IVariables | null = null;
}
