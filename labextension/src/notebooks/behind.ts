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
  await new Promise<void>(resolve => {
    const look = (): void => {
      if (opened.find(path)) {
        opened.changed.disconnect(look);
        resolve();
      }
    };
    opened.changed.connect(look);
    look();
  });
}
