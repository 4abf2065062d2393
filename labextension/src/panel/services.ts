import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { TranslationBundle } from '@jupyterlab/translation';
import { createContext, useContext, useSyncExternalStore } from 'react';
import type { Observable } from '../model/observable';
import type { PanelModel } from '../model/panel';
import type { MessageContext } from '../notebooks/context';

/**
 * The person's settings of the panel.
 */
export interface IPanelSettings {
  /** Whether Ctrl or Cmd has to be held for Enter to send. */
  sendWithAccel: boolean;
  expandThoughts: boolean;
}

/**
 * What the components of the panel work with.
 */
export interface IServices {
  /** What goes with messages of the notebooks that are open; null where nothing does. */
  context: MessageContext | null;
  languages: IEditorLanguageRegistry;
  model: PanelModel;
  /** A renderer of untrusted content. */
  rendermime: IRenderMimeRegistry;
  settings: IPanelSettings;
  trans: TranslationBundle;
  /** Open a file of JupyterLab's file browser. */
  openFile: (contentsPath: string) => void;
  /** Go to a cell of a notebook; its path is the file browser's. */
  showCell: (contentsPath: string, cell: string) => void;
  /** Make a cell of code in the notebook that the person is in; null where there are none. */
  insertCode: ((code: string) => void) | null;
  /** Open a console on the kernel of a session. */
  openConsole: (session: string) => void;
  /** Where a file of a session's workspace stands in the file browser; null if nowhere. */
  locate: (workspace: string, path: string) => string | null;
}

export const ServicesContext = createContext<IServices | null>(null);

/**
 * The services; only within the panel.
 */
export function useServices(): IServices {
  const services = useContext(ServicesContext);
  if (!services) {
    throw new Error('This component is used outside the panel.');
  }
  return services;
}

/**
 * Draw anew when something changed.
 *
 * @returns The version, for the lists of dependencies of hooks.
 */
export function useObservable(observable: Observable | null): number {
  return useSyncExternalStore(
    observable?.subscribe ?? subscribeToNothing,
    observable?.getVersion ?? zero
  );
}

function subscribeToNothing(): () => void {
  return zero;
}

function zero(): number {
  return 0;
}
