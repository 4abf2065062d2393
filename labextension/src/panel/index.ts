/**
 * Everything that is loaded when the panel is opened for the first time.
 */
import type { ServerConnection as Connection } from '@jupyterlab/services';
import { ServerConnection } from '@jupyterlab/services';
import type { OpenedNotebooks } from '../notebooks/opened';
import { MessageContext } from '../notebooks/context';
import { ApiClient } from '../model/client';
import type { IPanelHooks, ISavedState } from '../model/panel';
import { PanelModel } from '../model/panel';
import type { ILoaded } from '../sidebar';
import type { IPanelOptions } from './widget';
import { PanelContent } from './widget';

/**
 * Make what the panel shows, and begin to load it.
 */
export function createContent(
  options: Omit<IPanelOptions, 'context' | 'model'> & {
    opened: OpenedNotebooks | null;
  },
  serverSettings: Connection.ISettings,
  saved: ISavedState | null,
  hooks: IPanelHooks
): ILoaded {
  const client = new ApiClient(serverSettings, ServerConnection.makeRequest);
  const model = new PanelModel(client, saved, hooks);
  const context = options.opened && new MessageContext(options.opened);
  const content = new PanelContent({ ...options, context, model });
  return { content, context, model, started: model.start() };
}
