import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ServerConnection } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import { ApiClient } from '../model/client';
import type { Batches } from './batches';
import { Conversations } from './conversations';
import type { IKernel } from './errand';
import type { ITaskPayload } from './payload';
import { TaskModel } from './taskmodel';
import type { ITaskServices } from './taskmodel';
import { Watches } from './watches';

/**
 * What outputs need of JupyterLab.
 */
export interface IPageOptions {
  languages: IEditorLanguageRegistry;
  rendermime: IRenderMimeRegistry;
  trans: TranslationBundle;
  batches: Batches;
  openFile: (contentsPath: string) => void;
  showCell: (contentsPath: string, cell: string) => void;
  openConsole: (session: string) => void;
  openSession: (session: string) => void;
  /** The connection to a kernel that comms are opened on; null if there is none. */
  commsOf: (kernel: IKernel & { id: string }) => IKernel | null;
}

/**
 * What outputs are drawn with in this page.
 */
export interface IPageServices extends IPageOptions {
  client: ApiClient;
  tasks: Tasks;
}

/**
 * Make what all outputs of this page share.
 */
export function pageServices(
  options: IPageOptions,
  serverSettings: ServerConnection.ISettings
): IPageServices {
  const client = new ApiClient(serverSettings, ServerConnection.makeRequest);
  const tasks = new Tasks({
    client,
    conversations: new Conversations(client),
    watches: new Watches(client)
  });
  return { ...options, client, tasks };
}

/**
 * The tasks that outputs of this page show, each once, however many outputs show it.
 */
export class Tasks {
  constructor(private readonly _services: ITaskServices) {}

  /**
   * The task that an output shows; `release` has to follow.
   */
  acquire(payload: ITaskPayload): TaskModel {
    let entry = this._tasks.get(payload.id);
    if (!entry) {
      entry = { task: new TaskModel(payload, this._services), users: 0 };
      this._tasks.set(payload.id, entry);
    }
    entry.users++;
    return entry.task;
  }

  release(task: TaskModel): void {
    const { id } = task.payload;
    const entry = this._tasks.get(id);
    if (entry && --entry.users === 0) {
      task.close();
      this._tasks.delete(id);
    }
  }

  private readonly _tasks = new Map<
    string,
    { task: TaskModel; users: number }
  >();
}
