import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { ICommandPalette } from '@jupyterlab/apputils';
import type { ILauncher } from '@jupyterlab/launcher';
import type { TranslationBundle } from '@jupyterlab/translation';
import { CommandIDs } from './commandids';
import { openHandsIcon } from './icon';
import type { ILoaded, Sidebar } from './sidebar';

const NO_ARGUMENTS = { args: { type: 'object', properties: {} } } as const;

/**
 * Add the commands, and their places in the palette and the launcher.
 *
 * @param open - Brings the panel to the front.
 */
export function addCommands(
  app: JupyterFrontEnd,
  sidebar: Sidebar,
  open: () => Promise<ILoaded>,
  trans: TranslationBundle,
  palette: ICommandPalette | null,
  launcher: ILauncher | null
): void {
  const { commands } = app;

  commands.addCommand(CommandIDs.open, {
    label: args =>
      args.isLauncher ? trans.__('OpenHands') : trans.__('Open OpenHands'),
    caption: trans.__('Open the OpenHands panel and go to its input'),
    icon: openHandsIcon,
    describedBy: {
      args: {
        type: 'object',
        properties: {
          isLauncher: {
            type: 'boolean',
            description: trans.__('Whether it is called from the launcher')
          }
        }
      }
    },
    execute: async () => {
      const { content } = await open();
      content.focusInput();
    }
  });
  commands.addCommand(CommandIDs.newSession, {
    label: trans.__('New Session'),
    caption: trans.__('Begin a new session with the agent'),
    describedBy: NO_ARGUMENTS,
    execute: async () => {
      const { content, model } = await open();
      model.startNew();
      content.focusInput();
    }
  });
  commands.addCommand(CommandIDs.stop, {
    label: trans.__('Stop the Agent'),
    caption: trans.__('Stop what the agent does in the open session'),
    describedBy: NO_ARGUMENTS,
    isEnabled: () => sidebar.loaded?.model.current?.stoppable ?? false,
    execute: async () => {
      await sidebar.loaded?.model.stop();
    }
  });
  commands.addCommand(CommandIDs.console, {
    label: trans.__('Open a Console on the Sandbox Kernel'),
    caption: trans.__(
      'Look into the kernel in which the agent of the open session works'
    ),
    describedBy: {
      args: {
        type: 'object',
        properties: {
          session: {
            type: 'string',
            description: trans.__(
              'Id of the session; the one that is open in the panel by default'
            )
          }
        }
      }
    },
    isEnabled: args =>
      !!args.session || !!sidebar.loaded?.model.current?.info.kernel,
    execute: async args => {
      const session = args.session ?? sidebar.loaded?.model.current?.id;
      if (typeof session === 'string') {
        const { openConsole } = await import('./console');
        await openConsole(commands, app.serviceManager, session);
      }
    }
  });
  commands.addCommand(CommandIDs.openSession, {
    label: trans.__('Open a Session'),
    caption: trans.__('Open a session in the OpenHands panel'),
    describedBy: {
      args: {
        type: 'object',
        properties: {
          session: { type: 'string', description: trans.__('Its id') }
        },
        required: ['session']
      }
    },
    isVisible: args => typeof args.session === 'string',
    execute: async ({ session }) => {
      const { model } = await open();
      await model.refreshSessions();
      await model.select(session as string);
    }
  });
  commands.addCommand(CommandIDs.settings, {
    label: trans.__('Model and Sandbox Settings'),
    caption: trans.__('Choose the model, its key, and the isolation'),
    describedBy: NO_ARGUMENTS,
    execute: async () => {
      const { model } = await open();
      model.show('settings');
    }
  });

  const category = trans.__('OpenHands');
  for (const command of Object.values(CommandIDs)) {
    palette?.addItem({ command, category });
  }
  launcher?.add({
    command: CommandIDs.open,
    args: { isLauncher: true },
    category: trans.__('Other'),
    rank: 1
  });
}
