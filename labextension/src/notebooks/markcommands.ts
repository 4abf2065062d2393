import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { Cell } from '@jupyterlab/cells';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { checkIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import { CommandIDs } from '../commandids';
import type { Marks } from './marks';
import { accept, isMarked, isSigned, strip } from './provenance';

const NO_ARGUMENTS = { args: { type: 'object', properties: {} } } as const;

const MINE = [
  CommandIDs.acceptCells,
  CommandIDs.acceptNotebook,
  CommandIDs.removeProvenance
];

/**
 * Mark what the agent changed, and add the commands that take the marks away.
 */
export function addMarks(
  { commands }: JupyterFrontEnd,
  tracker: INotebookTracker,
  trans: TranslationBundle
): void {
  // Of all commands it would be asked anew whether they are enabled.
  const tell = (): void =>
    MINE.forEach(id => commands.notifyCommandChanged(id));
  let marks: Promise<Marks> | null = null;
  const watch = (panel: NotebookPanel): void => {
    marks ??= import('./marks').then(module => new module.Marks(trans, tell));
    void marks.then(loaded => loaded.watch(panel));
  };

  const all = (): readonly Cell[] =>
    tracker.currentWidget?.content.widgets ?? [];
  const chosen = (): Cell[] =>
    all().filter(
      cell => tracker.currentWidget?.content.isSelectedOrActive(cell) ?? false
    );
  const anyMarked = (cells: readonly Cell[]): boolean =>
    cells.some(({ model }) => isMarked(model));

  commands.addCommand(CommandIDs.acceptCells, {
    label: trans.__('Accept the Agent’s Changes of the Selected Cells'),
    caption: trans.__('Accept what the OpenHands agent changed in this cell'),
    icon: args => (args.toolbar ? checkIcon : undefined),
    describedBy: {
      args: {
        type: 'object',
        properties: {
          toolbar: {
            type: 'boolean',
            description: trans.__('Whether it is called from a toolbar')
          }
        }
      }
    },
    isEnabled: () => anyMarked(chosen()),
    execute: () => chosen().forEach(({ model }) => accept(model))
  });
  commands.addCommand(CommandIDs.acceptNotebook, {
    label: trans.__('Accept All of the Agent’s Changes in This Notebook'),
    describedBy: NO_ARGUMENTS,
    isEnabled: () => anyMarked(all()),
    execute: () => all().forEach(({ model }) => accept(model))
  });
  commands.addCommand(CommandIDs.removeProvenance, {
    label: trans.__('Remove OpenHands Provenance from This Notebook'),
    caption: trans.__(
      'Remove from the cells’ metadata which session and model changed them'
    ),
    describedBy: NO_ARGUMENTS,
    isEnabled: () => all().some(({ model }) => isSigned(model)),
    execute: () => all().forEach(({ model }) => strip(model))
  });

  tracker.forEach(watch);
  tracker.widgetAdded.connect((_, panel) => watch(panel));
  tracker.activeCellChanged.connect(tell);
  tracker.selectionChanged.connect(tell);
}
