import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { CommandIDs } from '../commandids';
import { openHandsIcon } from '../icon';
import type { ILoaded } from '../sidebar';
import type { CellRequests } from './cellrequests';
import type { ICellPlace } from './context';
import { showsError } from './errors';
import type { FixButtons } from './fixbuttons';
import type { OpenedNotebooks } from './opened';

const NO_ARGUMENTS = { args: { type: 'object', properties: {} } } as const;

/**
 * Add what asks the agent about a cell: the commands, and the buttons under cells with errors.
 *
 * @param open - Brings the panel to the front.
 */
export function addCellCommands(
  { commands }: JupyterFrontEnd,
  tracker: INotebookTracker,
  opened: OpenedNotebooks,
  trans: TranslationBundle,
  open: () => Promise<ILoaded>
): void {
  const here = (): ICellPlace | null => {
    const panel = tracker.currentWidget;
    const cell = panel?.content.activeCell;
    return panel && cell ? { panel, cell } : null;
  };
  const request = async (
    what: keyof CellRequests,
    place: ICellPlace | null
  ): Promise<void> => {
    if (place) {
      const { CellRequests } = await import('./cellrequests');
      await new CellRequests(opened, trans, open)[what](place);
    }
  };

  commands.addCommand(CommandIDs.askCell, {
    label: trans.__('Ask OpenHands About This Cell'),
    caption: trans.__('Ask OpenHands about this cell'),
    icon: openHandsIcon,
    describedBy: NO_ARGUMENTS,
    isEnabled: () => here() !== null,
    execute: () => request('ask', here())
  });
  commands.addCommand(CommandIDs.fixCell, {
    label: trans.__('Fix the Error of This Cell with OpenHands'),
    caption: trans.__('Give the OpenHands agent this cell and its error'),
    icon: openHandsIcon,
    describedBy: NO_ARGUMENTS,
    isEnabled: () => showsError(here()?.cell.model),
    execute: () => request('fix', here())
  });

  const tell = (): void => commands.notifyCommandChanged(CommandIDs.fixCell);
  let buttons: Promise<typeof FixButtons> | null = null;
  const watch = (panel: NotebookPanel): void => {
    buttons ??= import('./fixbuttons').then(module => module.FixButtons);
    void buttons.then(
      loaded =>
        new loaded(
          trans,
          panel,
          cell => void request('fix', { panel, cell }),
          tell
        )
    );
  };
  tracker.forEach(watch);
  tracker.widgetAdded.connect((_, panel) => watch(panel));
}
