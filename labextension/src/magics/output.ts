import type { IRenderMime } from '@jupyterlab/rendermime';
import type { Kernel, ServerConnection } from '@jupyterlab/services';
import type { PartialJSONObject } from '@lumino/coreutils';
import type { Panel, Widget } from '@lumino/widgets';
import { problemText } from '../model/texts';
import { TaskContent } from './content';
import { isSandboxed, openLine } from './errand';
import type { ILine, IRequestErrand } from './errand';
import type { IPageOptions, IPageServices } from './page';
import { pageServices } from './page';
import { MIME_TYPE } from './mimetype';
import { sandboxedText } from './texts';
import { bundleOf, readPayload } from './payload';
import type { IRequestPayload, ITaskPayload } from './payload';
import type { IOrigin, TaskModel } from './taskmodel';
import { carryOut } from './verbs';

/**
 * The key of what is kept in a cell's metadata; as in the kernel's magics.
 */
const METADATA = 'openhands';

/**
 * What is used of a cell around an output.
 */
interface ICell {
  model: {
    id: string;
    getMetadata(key: string): unknown;
    setMetadata(key: string, value: unknown): void;
  };
}

/**
 * What is used of the notebook or console around an output.
 */
interface IPlace {
  sessionContext: {
    ready: Promise<void>;
    session: { kernel: Kernel.IKernelConnection | null } | null;
  };
  /** Only of a notebook's. */
  content?: unknown;
}

/**
 * What an output of the magics shows and does: a task, or a request whose answer replaces it.
 */
export class Output {
  constructor(
    private readonly _host: Panel,
    private readonly _page: IPageServices
  ) {}

  /**
   * Take in what the output holds.
   */
  take(model: IRenderMime.IMimeModel): void {
    const payload = readPayload(model.data[MIME_TYPE]);
    this._model = model;
    if (!payload || payload.id === this._id) {
      return;
    }
    this.dispose();
    this._id = payload.id;
    if (payload.kind === 'request') {
      this._request = payload;
    } else {
      this._show(payload);
    }
    this.begin();
  }

  /**
   * Ask the kernel, once it is known where this output stands.
   */
  begin(): void {
    if (!this._host.isAttached) {
      return;
    }
    if (this._request) {
      void this._carryOut(this._request);
      this._request = null;
    }
    if (this._task) {
      void this._task.connect(this._origin());
    }
  }

  dispose(): void {
    if (this._task) {
      this._page.tasks.release(this._task);
      this._task = null;
      this._unsubscribe?.();
      this._content?.dispose();
    }
  }

  private _show(payload: ITaskPayload): void {
    const task = this._page.tasks.acquire(payload);
    this._task = task;
    this._content = new TaskContent(task, this._page);
    this._host.addWidget(this._content);
    this._unsubscribe = task.subscribe(() => this._keep(task));
  }

  private async _carryOut(request: IRequestPayload): Promise<void> {
    const origin = this._origin();
    if (await origin?.isSandboxed()) {
      this._model?.setData({
        data: { 'text/plain': sandboxedText(this._page.trans) }
      });
      return;
    }
    const line = await origin?.openLine();
    if (line?.errand.type === 'request' && line.errand.id === request.id) {
      await this._answer(line, line.errand);
    }
  }

  private async _answer(line: ILine, errand: IRequestErrand): Promise<void> {
    const { client, trans } = this._page;
    try {
      const data = await carryOut(client, errand);
      line.tell({ data: data as PartialJSONObject as never });
    } catch (error) {
      const { message, hint } = problemText(trans, error);
      line.tell({ error: { message, hint: hint ?? '' } });
    }
    line.close();
  }

  private _origin(): IOrigin | null {
    const place = ancestor(this._host, isPlace);
    if (!place) {
      return null;
    }
    const cell = ancestor(this._host, isCell);
    const isConsole = !place.content;
    const { sessionContext } = place;
    const kernel = async (): Promise<Kernel.IKernelConnection | null> => {
      await sessionContext.ready;
      return sessionContext.session?.kernel ?? null;
    };
    return {
      isSandboxed: async () => {
        const connection = await kernel();
        return !!connection && isSandboxed(connection);
      },
      openLine: async () => {
        const connection = await kernel();
        const comms = connection && this._page.commsOf(connection);
        return comms && openLine(comms, this._id);
      },
      ranAlone: () =>
        isConsole || (!!cell && this._page.batches.ranAlone(cell.model.id))
    };
  }

  /**
   * Keep in the notebook how the task stands.
   */
  private _keep(task: TaskModel): void {
    const { payload } = task;
    if (payload === this._kept) {
      return;
    }
    this._kept = payload;
    const plain = this._page.trans.__(
      'OpenHands has not answered (state: %1).',
      payload.state
    );
    this._model?.setData({
      data: bundleOf(payload, plain) as PartialJSONObject
    });
    const cell = ancestor(this._host, isCell);
    const errand = task.errand;
    if (cell && errand && task.end !== null && payload.answer) {
      const { session, message, answer } = payload;
      const before = cell.model.getMetadata(METADATA);
      cell.model.setMetadata(METADATA, {
        ...(before as object | undefined),
        task: { asked: errand.fingerprint, session, message, answer }
      });
    }
  }

  private _content: TaskContent | null = null;
  private _id = '';
  private _kept: ITaskPayload | null = null;
  private _model: IRenderMime.IMimeModel | null = null;
  private _request: IRequestPayload | null = null;
  private _task: TaskModel | null = null;
  private _unsubscribe: (() => void) | null = null;
}

/**
 * Makes the outputs of this page; they share what they are drawn with.
 */
export function outputMaker(
  options: IPageOptions,
  serverSettings: ServerConnection.ISettings
): (host: Panel) => Output {
  const page = pageServices(options, serverSettings);
  return host => new Output(host, page);
}

function ancestor<T>(
  widget: Widget,
  fits: (widget: unknown) => widget is T
): T | null {
  for (let above = widget.parent; above; above = above.parent) {
    if (fits(above)) {
      return above;
    }
  }
  return null;
}

function isPlace(widget: unknown): widget is IPlace {
  return !!(widget as Partial<IPlace>).sessionContext;
}

function isCell(widget: unknown): widget is ICell {
  const { model } = widget as Partial<ICell>;
  return typeof model?.setMetadata === 'function' && !!model.id;
}
