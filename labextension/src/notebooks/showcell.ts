import type { JupyterFrontEnd } from '@jupyterlab/application';
import { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { CommandIDs } from '../commandids';
import type { OpenedNotebooks } from './opened';

/**
 * Add the command that goes to a cell of a notebook, which is opened where it is not.
 */
export function addShowCell(
  app: JupyterFrontEnd,
  opened: OpenedNotebooks,
  trans: TranslationBundle
): void {
  const { commands, shell } = app;
  commands.addCommand(CommandIDs.showCell, {
    label: trans.__('Show a Cell'),
    caption: trans.__('Go to a cell of a notebook'),
    describedBy: {
      args: {
        type: 'object',
        properties: {
          path: { type: 'string', description: trans.__('Of the notebook') },
          cell: { type: 'string', description: trans.__('Id of the cell') }
        },
        required: ['path', 'cell']
      }
    },
    isVisible: args => typeof args.path === 'string',
    execute: async ({ path, cell }) => {
      const panel: unknown =
        opened.find(path as string) ??
        (await commands.execute('docmanager:open', { path }));
      if (panel instanceof NotebookPanel) {
        shell.activateById(panel.id);
        await goTo(panel, cell as string);
      }
    }
  });
}

/**
 * Add the command by which a person makes a cell of code that the agent ran elsewhere.
 */
export function addInsertCode(
  app: JupyterFrontEnd,
  opened: OpenedNotebooks,
  trans: TranslationBundle
): void {
  app.commands.addCommand(CommandIDs.insertCode, {
    label: trans.__('Insert Code as a Cell'),
    caption: trans.__('Insert code below the selected cell of the notebook'),
    describedBy: {
      args: {
        type: 'object',
        properties: {
          code: { type: 'string', description: trans.__('Source of the cell') }
        },
        required: ['code']
      }
    },
    isVisible: args => typeof args.code === 'string',
    execute: async ({ code }) => {
      const { insertCode } = await import('./insertcode');
      insertCode(app.shell, opened.current, trans, code as string);
    }
  });
}

async function goTo(
  { content, revealed }: NotebookPanel,
  id: string
): Promise<void> {
  await revealed;
  const index = content.widgets.findIndex(cell => cell.model.id === id);
  if (index >= 0) {
    content.mode = 'command';
    content.deselectAll();
    content.activeCellIndex = index;
    await content.scrollToItem(index, 'smart');
  }
}
