import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ILayoutRestorer } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { ILauncher } from '@jupyterlab/launcher';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { CommandIDs } from './commandids';
import { addCommands } from './commands';
import { openHandsIcon } from './icon';
import { addMagics } from './magics';
import { notebooksPlugin } from './notebooks';
import { addCellCommands } from './notebooks/cellcommands';
import { IOpenedNotebooks } from './notebooks/opened';
import { notify } from './notify';
import type { IPanelSettings } from './panel/services';
import { SavedState } from './savedstate';
import type { ILoaded } from './sidebar';
import { Sidebar } from './sidebar';

const PLUGIN_ID = 'openhands-jupyter:plugin';
const REFRESH_FILES = 'filebrowser:refresh';

/**
 * Place among the widgets of the right sidebar: behind JupyterLab's own.
 */
const RANK = 900;

/**
 * The panel, its commands and its place in JupyterLab.
 */
const plugin: JupyterFrontEndPlugin<void> = {
  id: PLUGIN_ID,
  description:
    'A panel in which an agent works on tasks, with its commands and launcher card.',
  autoStart: true,
  requires: [IEditorLanguageRegistry, IRenderMimeRegistry],
  optional: [
    ICommandPalette,
    ILauncher,
    ILayoutRestorer,
    ISettingRegistry,
    INotebookTracker,
    IOpenedNotebooks,
    IStateDB,
    ITranslator
  ],
  activate: (
    app: JupyterFrontEnd,
    languages: IEditorLanguageRegistry,
    rendermime: IRenderMimeRegistry,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    restorer: ILayoutRestorer | null,
    settingRegistry: ISettingRegistry | null,
    notebooks: INotebookTracker | null,
    opened: IOpenedNotebooks | null,
    stateDB: IStateDB | null,
    translator: ITranslator | null
  ) => {
    const trans = (translator ?? nullTranslator).load('openhands-jupyter');

    const { serverSettings } = app.serviceManager;
    const savedState = new SavedState(stateDB, serverSettings.baseUrl);

    const sidebar = new Sidebar(async () => {
      const [{ createContent }, saved, settings] = await Promise.all([
        import('./panel'),
        savedState.load(),
        settingRegistry?.load(PLUGIN_ID)
      ]);
      const loaded = createContent(
        {
          languages,
          opened,
          openFile: path =>
            void app.commands.execute('docmanager:open', { path }),
          showCell: (path, cell) =>
            void app.commands.execute(CommandIDs.showCell, { path, cell }),
          insertCode:
            opened &&
            (code =>
              void app.commands.execute(CommandIDs.insertCode, { code })),
          openConsole: session =>
            void app.commands.execute(CommandIDs.console, { session }),
          rendermime,
          settings: readSettings(settings),
          trans
        },
        serverSettings,
        saved,
        {
          save: state => savedState.save(state),
          filesChanged: () => {
            if (app.commands.hasCommand(REFRESH_FILES)) {
              void app.commands.execute(REFRESH_FILES);
            }
          },
          stateChanged: session => {
            app.commands.notifyCommandChanged(CommandIDs.stop);
            if (!sidebar.isVisible) {
              notify(app.commands, trans, session);
            }
          }
        }
      );
      settings?.changed.connect(() =>
        loaded.content.setSettings(readSettings(settings))
      );
      return loaded;
    });
    sidebar.id = 'openhands-jupyter';
    sidebar.title.icon = openHandsIcon;
    sidebar.title.caption = trans.__('OpenHands');
    sidebar.node.setAttribute('aria-label', trans.__('OpenHands'));

    app.shell.add(sidebar, 'right', { rank: RANK, type: 'OpenHands' });
    restorer?.add(sidebar, 'openhands-jupyter');
    const open = (): Promise<ILoaded> => {
      app.shell.activateById(sidebar.id);
      return sidebar.ensureLoaded();
    };
    addCommands(app, sidebar, open, trans, palette, launcher);
    if (notebooks && opened) {
      addCellCommands(app, notebooks, opened, trans, open);
    }
    addMagics(app, languages, rendermime, notebooks, trans);
  }
};

function readSettings(
  settings: ISettingRegistry.ISettings | undefined
): IPanelSettings {
  return {
    sendWithAccel: settings?.composite.sendKey === 'Accel Enter',
    expandThoughts: settings?.composite.expandThoughts === true
  };
}

export default [plugin, notebooksPlugin];
