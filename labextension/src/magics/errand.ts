import type { Kernel } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';
import { isRecord } from '../model/records';
import type { Mode } from '../model/frames';

/**
 * Name of the comms; as in the kernel's magics.
 */
const TARGET = 'openhands-jupyter';

/**
 * What the kernels are called in which agents work, and begin the names of what starts them.
 */
const SANDBOX_KERNEL = 'openhands-sandbox';
const SANDBOX_PROVISIONER = 'openhands-';

/**
 * A task as the kernel tells of it.
 */
export interface ITaskErrand {
  type: 'task';
  id: string;
  prompt: string;
  fingerprint: string;
  state: string;
  session: string | null;
  message: number | null;
  mode: Mode | null;
  model: string | null;
  workspace: string | null;
  /** Names what the tasks of a kernel belong to, before there is a session. */
  conversation: string;
  /** Whether it has to be this session. */
  insists: boolean;
}

/**
 * A request as the kernel tells of it.
 */
export interface IRequestErrand {
  type: 'request';
  id: string;
  verb: string;
  arguments: Readonly<Record<string, unknown>>;
}

export type Errand = ITaskErrand | IRequestErrand;

/**
 * Something that the kernel wants done, and the line to tell it what becomes of it.
 */
export interface ILine {
  errand: Errand;
  tell(data: JSONObject): void;
  close(): void;
}

/**
 * What is used of a kernel connection.
 */
export type IKernel = Pick<
  Kernel.IKernelConnection,
  'name' | 'spec' | 'handleComms' | 'createComm'
>;

/**
 * Whether a kernel runs in a sandbox: what is in there must not give agents tasks outside.
 */
export async function isSandboxed(
  kernel: Pick<IKernel, 'name' | 'spec'>
): Promise<boolean> {
  if (kernel.name === SANDBOX_KERNEL) {
    return true;
  }
  const metadata = (await kernel.spec)?.metadata;
  const provisioner = isRecord(metadata) && metadata.kernel_provisioner;
  const name = isRecord(provisioner) && provisioner.provisioner_name;
  return typeof name === 'string' && name.startsWith(SANDBOX_PROVISIONER);
}

/**
 * Ask the kernel what an output of it stands for.
 *
 * @returns Null if the kernel knows nothing of it (any more), such as after it was restarted.
 */
export function openLine(kernel: IKernel, id: string): Promise<ILine | null> {
  return new Call(kernel.createComm(TARGET)).open(id);
}

class Call {
  constructor(private readonly _comm: Kernel.IComm) {}

  open(id: string): Promise<ILine | null> {
    const comm = this._comm;
    return new Promise(resolve => {
      comm.onClose = () => resolve(null);
      comm.onMsg = message => resolve(this._answered(message.content.data));
      comm.open({ id });
    });
  }

  private _answered(data: unknown): ILine | null {
    this._comm.onMsg = () => undefined;
    if (isRecord(data) && (data.type === 'task' || data.type === 'request')) {
      return {
        errand: data as unknown as Errand,
        tell: news => this._tell(news),
        close: () => this._close()
      };
    }
    this._close();
    return null;
  }

  private _tell(news: JSONObject): void {
    if (!this._comm.isDisposed) {
      this._comm.send(news);
    }
  }

  private _close(): void {
    if (!this._comm.isDisposed) {
      this._comm.close();
    }
  }
}
