import type { YNotebook } from '@jupyter/ydoc';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type {
  INotebookModel,
  INotebookTracker,
  NotebookPanel
} from '@jupyterlab/notebook';
import type { Contents } from '@jupyterlab/services';
import { Token } from '@lumino/coreutils';
import { MessageLoop } from '@lumino/messaging';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';
import type { IOpenNotebook } from './frames';

type Context = DocumentRegistry.IContext<INotebookModel>;

/**
 * Milliseconds that JupyterLab has, after a notebook is ready, to clear its undo history.
 */
const HISTORY_CLEARED_WITHIN = 10_000;

/**
 * The plugins' name for it; there is none in a page without notebooks.
 */
export type IOpenedNotebooks = OpenedNotebooks;
export const IOpenedNotebooks = new Token<OpenedNotebooks | null>(
  'openhands-jupyter:IOpenedNotebooks',
  'The notebooks that are open in this browser tab.'
);

/**
 * The notebooks that are open in this browser tab; each once, however many views it has.
 */
export class OpenedNotebooks {
  constructor(
    private readonly _tracker: INotebookTracker,
    private readonly _contents: Contents.IManager
  ) {
    _tracker.widgetAdded.connect((_, panel) => void this._add(panel));
    _tracker.forEach(panel => void this._add(panel));
    _tracker.currentChanged.connect(this._tell);
    document.addEventListener('visibilitychange', this._tell);
  }

  /**
   * Emitted when `describe` answers something else, or is about to.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /**
   * The notebook that the person is in, of those on the screen; null if there is none.
   */
  get current(): NotebookPanel | null {
    const { currentWidget } = this._tracker;
    const shown = this._views().filter(panel => panel.isVisible);
    return shown.find(panel => panel === currentWidget) ?? shown[0] ?? null;
  }

  /**
   * A view of the notebook at a path, the one on the screen if there are several.
   */
  find(path: string): NotebookPanel | undefined {
    return this._views().find(panel => this.path(panel) === path);
  }

  /**
   * Where a notebook is for the server: a drive of shared documents is the server's own too.
   */
  path({ context }: NotebookPanel): string {
    return this._isServers(context)
      ? this._contents.localPath(context.path)
      : context.path;
  }

  /**
   * All that is open of the server's own. A path on another drive would be taken there for one of
   * the server's, which may be in a folder in which an agent works.
   */
  describe(): IOpenNotebook[] {
    const contexts = new Set<Context>();
    return this._views()
      .filter(({ context }) => this._isServers(context))
      .filter(({ context }) => !contexts.has(context) && contexts.add(context))
      .map(panel => describeNotebook(this.path(panel), panel));
  }

  private _isServers({ path }: Context): boolean {
    const drive = this._contents.driveName(path);
    return drive === '' || drive === SHARED_DRIVE;
  }

  private _views(): NotebookPanel[] {
    return [...this._panels].sort(
      (a, b) => Number(b.isVisible) - Number(a.isVisible)
    );
  }

  private async _add(panel: NotebookPanel): Promise<void> {
    const { content, context, sessionContext } = panel;
    await context.ready;
    await historyCleared(context);
    if (panel.isDisposed) {
      return;
    }
    this._panels.add(panel);
    panel.disposed.connect(() => {
      this._panels.delete(panel);
      this._tell();
    });
    const signals: ISignal<unknown, unknown>[] = [
      context.pathChanged,
      context.fileChanged,
      context.model.stateChanged,
      sessionContext.kernelChanged,
      sessionContext.statusChanged
    ];
    signals.forEach(signal => signal.connect(this._tell));
    // The tracker knows nothing of what is no notebook and comes in front of one.
    MessageLoop.installMessageHook(panel, (_, { type }) => {
      if (type === 'after-show' || type === 'after-hide') {
        this._tell();
      }
      return true;
    });
    const followInput = (): void => {
      sessionContext.session?.pendingInput.connect(this._tell);
    };
    sessionContext.sessionChanged.connect(followInput);
    followInput();
    content.activeCellChanged.connect(() => {
      this._followCursor(panel);
      this._tell();
    });
    this._followCursor(panel);
    this._tell();
  }

  private _followCursor({ content }: NotebookPanel): void {
    content.activeCell?.editor?.model.selections.changed.connect(this._tell);
  }

  private readonly _tell = (): void => this._changed.emit();

  private readonly _changed = new Signal<this, void>(this);
  private readonly _panels = new Set<NotebookPanel>();
}

/**
 * The shared model of a notebook.
 */
export function sharedNotebook(context: Context): YNotebook {
  // The interface lacks the undo manager that each shared notebook has.
  return context.model.sharedModel as unknown as YNotebook;
}

/**
 * Whether changes of a notebook could not be saved.
 */
export function isReadOnly({ contentsModel, model }: Context): boolean {
  return model.readOnly || contentsModel?.writable === false;
}

/**
 * A notebook without its cells.
 */
export function describeNotebook(
  path: string,
  { content, context, isVisible, sessionContext }: NotebookPanel
): IOpenNotebook {
  const { activeCell } = content;
  const kernel = sessionContext.session?.kernel;
  const selection = activeCell?.editor?.getSelection();
  return {
    path,
    dirty: context.model.dirty,
    read_only: isReadOnly(context),
    trusted: [...context.model.cells].every(
      cell => cell.type !== 'code' || cell.trusted
    ),
    active_cell: activeCell?.model.id ?? null,
    selection: selection
      ? { start: place(selection.start), end: place(selection.end) }
      : null,
    visible: isVisible && document.visibilityState === 'visible',
    kernel: kernel
      ? { id: kernel.id, name: kernel.name, state: kernel.status }
      : null,
    awaiting_input: sessionContext.pendingInput
  };
}

/**
 * Name of the drive of jupyter-collaboration.
 */
const SHARED_DRIVE = 'RTC';

/**
 * JupyterLab clears the history a while after a notebook is ready; what was changed in between
 * could never be undone.
 */
async function historyCleared(context: Context): Promise<void> {
  const { undoManager } = sharedNotebook(context);
  if (undoManager.undoStack.length === 0) {
    return;
  }
  await new Promise<void>(resolve => {
    const timer = setTimeout(resolve, HISTORY_CLEARED_WITHIN);
    undoManager.once('stack-cleared', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function place({ line, column }: { line: number; column: number }): {
  line: number;
  column: number;
} {
  return { line, column };
}
