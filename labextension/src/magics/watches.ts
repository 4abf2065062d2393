import type { ApiClient } from '../model/client';
import { PanelModel } from '../model/panel';

interface IWatch {
  model: PanelModel;
  ready: Promise<void>;
  users: number;
}

const NOTHING = (): void => undefined;

/**
 * The sessions that outputs of this page show, each watched once.
 */
export class Watches {
  constructor(private readonly _client: ApiClient) {}

  /**
   * Begin to watch a session, or watch along; `release` has to follow.
   *
   * @returns A model with that session as its current one; null there if it is gone.
   */
  async acquire(session: string): Promise<PanelModel> {
    let watch = this._watches.get(session);
    if (!watch) {
      const model = new PanelModel(
        this._client,
        { session, drafts: {} },
        { save: NOTHING, filesChanged: NOTHING, stateChanged: NOTHING }
      );
      watch = { model, ready: model.start(), users: 0 };
      this._watches.set(session, watch);
    }
    watch.users++;
    await watch.ready;
    return watch.model;
  }

  release(session: string): void {
    const watch = this._watches.get(session);
    if (watch && --watch.users === 0) {
      watch.model.close();
      this._watches.delete(session);
    }
  }

  private readonly _watches = new Map<string, IWatch>();
}
