import type { CommandRegistry } from '@lumino/commands';
import type { ServiceManager } from '@jupyterlab/services';

/**
 * What the paths of the sessions' kernels begin with, among Jupyter's sessions; as on the server.
 */
const PATH = 'openhands-session';

/**
 * What is used of a signal of Lumino.
 */
interface ISignal<T> {
  connect(slot: (sender: unknown, args: T) => void): boolean;
}

/**
 * What is used of a cell of JupyterLab's console.
 */
interface IConsoleCell {
  model: {
    trusted: boolean;
    stateChanged: ISignal<{ name: string; newValue: unknown }>;
  };
}

/**
 * What is used of JupyterLab's panel with a console.
 */
interface IConsolePanel {
  console: {
    promptCell: IConsoleCell | null;
    promptCellCreated: ISignal<IConsoleCell>;
  };
}

/**
 * Open a console on the kernel of an OpenHands session.
 *
 * What it shows stays untrusted: the agent decides what its kernel answers, also to a person.
 */
export async function openConsole(
  commands: CommandRegistry,
  services: Pick<ServiceManager.IManager, 'sessions'>,
  session: string
): Promise<void> {
  // The kernel may have started a moment ago.
  await services.sessions.refreshRunning();
  const panel = (await commands.execute('console:open', {
    path: `${PATH}/${session}`,
    activate: true
  })) as IConsolePanel | undefined;
  if (panel && !guarded.has(panel)) {
    guarded.add(panel);
    const { console } = panel;
    if (console.promptCell) {
      distrust(console.promptCell);
    }
    console.promptCellCreated.connect((_, cell) => distrust(cell));
  }
}

const guarded = new WeakSet<IConsolePanel>();

/**
 * Keep scripts in a cell's outputs from running, though JupyterLab trusts what a person executes.
 */
function distrust({ model }: IConsoleCell): void {
  model.trusted = false;
  model.stateChanged.connect((_, change) => {
    if (change.name === 'trusted' && change.newValue === true) {
      model.trusted = false;
    }
  });
}
