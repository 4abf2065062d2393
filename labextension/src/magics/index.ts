import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { INotebookTracker } from '@jupyterlab/notebook';
import { NotebookActions } from '@jupyterlab/notebook';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Panel } from '@lumino/widgets';
import { CommandIDs } from '../commandids';
import { Batches } from './batches';
import { MIME_TYPE } from './mimetype';
import type { Output } from './output';
import type { IPageOptions } from './page';
import { Renderer } from './renderer';

/**
 * Place among the renderers: before those of text, which the outputs hold too.
 */
const RANK = 10;

/**
 * Draw the outputs of `%openhands` and `%%openhands`, and do what they are about.
 */
export function addMagics(
  app: JupyterFrontEnd,
  languages: IEditorLanguageRegistry,
  rendermime: IRenderMimeRegistry,
  notebooks: INotebookTracker | null,
  trans: TranslationBundle
): void {
  const { commands } = app;
  const options: IPageOptions = {
    languages,
    rendermime,
    trans,
    batches: watchBatches(),
    openFile: path => void commands.execute('docmanager:open', { path }),
    showCell: (path, cell) =>
      void commands.execute(CommandIDs.showCell, { path, cell }),
    openConsole: session =>
      void commands.execute(CommandIDs.console, { session }),
    openSession: session =>
      void commands.execute(CommandIDs.openSession, { session }),
    commsOf: kernel => {
      // A console beside a notebook has a connection of its own, without comms.
      const found = notebooks?.find(panel => {
        const other = panel.sessionContext.session?.kernel;
        return !!other && other.id === kernel.id && other.handleComms;
      });
      return kernel.handleComms
        ? kernel
        : (found?.sessionContext.session?.kernel ?? null);
    }
  };
  let loading: Promise<(host: Panel) => Output> | null = null;
  const load = async (host: Panel): Promise<Output> => {
    loading ??= import('./output').then(({ outputMaker }) =>
      outputMaker(options, app.serviceManager.serverSettings)
    );
    return (await loading)(host);
  };
  rendermime.addFactory(
    {
      safe: true,
      mimeTypes: [MIME_TYPE],
      createRenderer: () => new Renderer(load)
    },
    RANK
  );
}

function watchBatches(): Batches {
  const batches = new Batches();
  NotebookActions.executionScheduled.connect((_, { notebook, cell }) => {
    const model: { id: string; executionState?: string } = cell.model;
    batches.schedule(notebook, {
      id: model.id,
      isRunning: () => model.executionState === 'running'
    });
  });
  return batches;
}
