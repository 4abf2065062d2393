import type {
  INotebookCellExecutor,
  NotebookPanel
} from '@jupyterlab/notebook';
import { NotebookActions } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';
import { textsOf } from './apply';
import type { IMismatch } from './change';
import { findMismatch } from './check';
import { Refusal, wellFormed } from './frames';
import { sharedNotebook } from './opened';

/**
 * Runs of which it is kept how they ended.
 */
const KEPT = 1000;

type Cell = NotebookPanel['content']['widgets'][number];
type CodeCell = Cell & {
  outputArea: { future: Kernel.IShellFuture | null };
};

/**
 * A cell that the kernel was asked to run.
 */
export interface IStarted {
  type: 'started';
  /** Id of the message to the kernel. */
  message: string;
  kernel: string;
}

/**
 * Runs cells as their person does, without going to them.
 */
export class CellRunner {
  constructor(private readonly _executor: INotebookCellExecutor) {}

  /**
   * Begin to run a cell, if it has this revision, and this source: two may have the same revision,
   * which is short.
   */
  start(
    panel: NotebookPanel,
    id: string,
    rev: string,
    source: string
  ): IStarted | IMismatch {
    const texts = textsOf(sharedNotebook(panel.context));
    const text = texts.find(cell => cell.id === id);
    const isAsSeen = text && wellFormed(text.source) === source;
    const mismatch = findMismatch(texts, {
      steps: [{ type: 'set', id, rev: isAsSeen ? rev : '' }]
    });
    if (mismatch) {
      return mismatch;
    }
    requireKernel(panel);
    const cell = panel.content.widgets.find(
      widget => widget.model.id === id
    ) as CodeCell;
    const before = cell.outputArea.future;
    const ran = this._run(panel, cell);
    const { future } = cell.outputArea;
    const kernel = panel.sessionContext.session?.kernel;
    if (!future || future === before || !kernel) {
      throw new Refusal('not_run', 'JupyterLab did not run the cell.');
    }
    const message = future.msg.header.msg_id;
    this._ran.set(message, ran);
    if (this._ran.size > KEPT) {
      const [oldest] = this._ran.keys();
      this._ran.delete(oldest);
    }
    return { type: 'started', message, kernel: kernel.id };
  }

  /**
   * The messages whose cells got all of their outputs here, answered when no more of them can.
   */
  async landed(messages: string[]): Promise<string[]> {
    const here = await Promise.all(
      messages.map(id => this._ran.get(id) ?? Promise.resolve(false))
    );
    return messages.filter((_, index) => here[index]);
  }

  private async _run(panel: NotebookPanel, cell: CodeCell): Promise<boolean> {
    const { content, sessionContext } = panel;
    // Not `NotebookActions.runCells`, which takes the person out of the cell that they write in.
    await this._executor
      .runCell({
        cell,
        notebook: content.model!,
        notebookConfig: content.notebookConfig,
        onCellExecuted: args =>
          emit(NotebookActions.executed, { notebook: content, ...args }),
        onCellExecutionScheduled: args =>
          emit(NotebookActions.executionScheduled, {
            notebook: content,
            ...args
          }),
        sessionContext
      })
      // What went wrong is among the outputs.
      .catch(() => undefined);
    return !cell.isDisposed;
  }

  private readonly _ran = new Map<string, Promise<boolean>>();
}

function requireKernel({ sessionContext }: NotebookPanel): void {
  if (sessionContext.hasNoKernel || sessionContext.isTerminating) {
    throw new Refusal('no_kernel', 'This notebook has no kernel.');
  }
  if (sessionContext.pendingInput) {
    throw new Refusal('pending_input', 'The kernel waits for input.');
  }
}

/**
 * Tell JupyterLab itself, such as its progress and table of contents; only it can make such signals.
 */
function emit<T>(signal: ISignal<unknown, T>, args: T): void {
  if (signal instanceof Signal) {
    (signal as Signal<unknown, T>).emit(args);
  }
}
