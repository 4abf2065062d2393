import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ILabShell } from '@jupyterlab/application';
import {
  INotebookCellExecutor,
  INotebookTracker,
  INotebookWidgetFactory,
  runCell
} from '@jupyterlab/notebook';
import type { NotebookWidgetFactory } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { Debouncer } from '@lumino/polling';
import { addMarks } from './markcommands';
import { IOpenedNotebooks, OpenedNotebooks } from './opened';
import type { Requests } from './requests';
import { addInsertCode, addShowCell } from './showcell';
import { TabSocket } from './socket';

/**
 * Milliseconds in which changes of what is open are gathered.
 */
const GATHERED = 200;

/**
 * Lets the server read and change the notebooks that are open in this browser tab.
 */
export const notebooksPlugin: JupyterFrontEndPlugin<OpenedNotebooks | null> = {
  id: 'openhands-jupyter:notebooks',
  description:
    'Lets the agent see and change the notebooks that are open, as their person would.',
  autoStart: true,
  provides: IOpenedNotebooks,
  optional: [
    INotebookTracker,
    INotebookWidgetFactory,
    INotebookCellExecutor,
    ITranslator,
    ILabShell
  ],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker | null,
    factory: NotebookWidgetFactory.IFactory | null,
    chosen: INotebookCellExecutor | null,
    translator: ITranslator | null,
    labShell: ILabShell | null
  ) => {
    if (!tracker) {
      return null;
    }
    const { contents, serverSettings } = app.serviceManager;
    const opened = new OpenedNotebooks(tracker, contents);
    // Whoever shares notebooks may set it at any time.
    const provider = (): string | undefined => factory?.contentProviderId;
    const trans = (translator ?? nullTranslator).load('openhands-jupyter');
    const executor = chosen ?? { runCell };
    addShowCell(app, opened, trans);
    addInsertCode(app, opened, trans);
    addMarks(app, tracker, trans);
    let requests: Promise<Requests> | null = null;
    const announce = (): void => {
      const frame = {
        type: 'notebooks',
        notebooks: opened.describe(),
        // Notebook 7 has a page for each notebook.
        opens: labShell !== null
      };
      socket.send(JSON.stringify(frame));
    };
    const socket = new TabSocket(serverSettings, {
      onOpen: announce,
      onMessage: data => {
        requests ??= Promise.all([
          import('./requests'),
          import('./running'),
          import('./behind')
        ]).then(
          ([{ Requests }, { CellRunner }, { openBehind }]) =>
            new Requests(
              opened,
              contents,
              provider,
              new CellRunner(executor),
              path => openBehind(app.commands, opened, path).then(announce)
            ),
          (error: unknown) => {
            // What could not be loaded now may be had for the next request.
            requests = null;
            throw error;
          }
        );
        void requests
          .then(loaded => loaded.answer(data))
          .then(frames => socket.send(...frames));
      }
    });
    const gathered = new Debouncer(announce, GATHERED);
    opened.changed.connect(() => void gathered.invoke());
    window.addEventListener('online', () => socket.wake());
    socket.open();
    return opened;
  }
};
