import type { ApiClient } from '../model/client';
import { ApiError } from '../model/client';
import type { ITaskErrand } from './errand';

/**
 * Finds the session for a task, or begins one.
 */
export class Conversations {
  constructor(
    private readonly _client: Pick<
      ApiClient,
      'changeSession' | 'createSession' | 'session'
    >
  ) {}

  /**
   * The id of the session that a task is to be done in, with the task's mode and model.
   */
  sessionFor(task: ITaskErrand): Promise<string> {
    // One after the other: two cells that are run at once shall not begin two sessions.
    const before = this._last.get(task.conversation) ?? Promise.resolve(null);
    const session = before.then(last => this._find(task.session ?? last, task));
    this._last.set(
      task.conversation,
      session.catch(() => before)
    );
    return session;
  }

  private async _find(
    known: string | null,
    task: ITaskErrand
  ): Promise<string> {
    if (known !== null) {
      try {
        return await this._continue(known, task);
      } catch (error) {
        const gone = error instanceof ApiError && error.status === 404;
        if (!gone || task.insists) {
          throw error;
        }
      }
    }
    return this._begin(task);
  }

  private async _begin(task: ITaskErrand): Promise<string> {
    const { mode, model, workspace } = task;
    const info = await this._client.createSession(mode ?? undefined, {
      ...(model !== null && { model }),
      ...(workspace !== null && { workspace })
    });
    return info.id;
  }

  private async _continue(id: string, task: ITaskErrand): Promise<string> {
    const info = await this._client.session(id);
    // Auto was chosen for another cell.
    const mode = task.mode ?? (info.mode === 'auto' ? 'agent' : info.mode);
    const model = task.model ?? info.model;
    if (mode !== info.mode || model !== info.model) {
      await this._client.changeSession(id, {
        ...(mode !== info.mode && { mode }),
        ...(model !== info.model && { model })
      });
    }
    return id;
  }

  private readonly _last = new Map<string, Promise<string | null>>();
}
