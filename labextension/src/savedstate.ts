import type { IStateDB } from '@jupyterlab/statedb';
import type { ReadonlyPartialJSONValue } from '@lumino/coreutils';
import { isRecord } from './model/records';
import type { ISavedState } from './model/panel';

const KEY = 'openhands-jupyter:state';

/**
 * What the panel keeps over a reload, in two places: JupyterLab's state database, which lasts but is
 * written some time later, and the browser tab's own storage, which is written at once.
 */
export class SavedState {
  constructor(
    private readonly _stateDB: IStateDB | null,
    /** Tells the servers apart that share an origin. */
    baseUrl: string
  ) {
    this._tabKey = `${KEY}:${baseUrl}`;
  }

  async load(): Promise<ISavedState | null> {
    const ofTab = sessionStorage.getItem(this._tabKey);
    const state: unknown = ofTab
      ? JSON.parse(ofTab)
      : await this._stateDB?.fetch(KEY);
    return isRecord(state) && isRecord(state.drafts)
      ? (state as unknown as ISavedState)
      : null;
  }

  save(state: ISavedState): void {
    sessionStorage.setItem(this._tabKey, JSON.stringify(state));
    const value = state as unknown as ReadonlyPartialJSONValue;
    void this._stateDB?.save(KEY, value);
  }

  private readonly _tabKey: string;
}
