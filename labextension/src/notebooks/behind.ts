import { NotebookPanel } from '@jupyterlab/notebook';
import type { CommandRegistry } from '@lumino/commands';
import { Refusal } from './frames';
import type { OpenedNotebooks } from './opened';

/**
 * Open a notebook behind what the person looks at, without a kernel: one that starts loads what
 * stands beside the notebook, which may be of the agent's making.
 */
export async function openBehind(
  commands: CommandRegistry,
  opened: OpenedNotebooks,
  path: string
): Promise<void> {
  const panel: unknown = await commands.execute('docmanager:open', {
    path,
    factory: 'Notebook',
    options: { activate: false },
    kernelPreference: { shouldStart: false }
  });
  if (!(panel instanceof NotebookPanel)) {
    throw new Refusal('not_opened', 'JupyterLab did not open it.');
  }
  // Whoever asked may want to change it at once.
  await untilOpened(opened, path, panel);
}

/**
 * Wait until a notebook counts as open.
 *
 * @param view - What shows it; whoever closes it ends the wait.
 */
export async function untilOpened(
  opened: Pick<OpenedNotebooks, 'changed' | 'find'>,
  path: string,
  view: Pick<NotebookPanel, 'disposed' | 'isDisposed'>
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const look = (): void => {
      if (opened.find(path)) {
        end();
        resolve();
      } else if (view.isDisposed) {
        end();
        reject(new Refusal('not_opened', 'It was closed again.'));
      }
    };
    const end = (): void => {
      opened.changed.disconnect(look);
      view.disposed.disconnect(look);
    };
    opened.changed.connect(look);
    view.disposed.connect(look);
    look();
  });
}
