import type { Kernel } from '@jupyterlab/services';
import { isSandboxed, openLine } from '../errand';
import type { IKernel } from '../errand';

function kernel(name: string, provisioner?: string): IKernel {
  const metadata = provisioner
    ? { kernel_provisioner: { provisioner_name: provisioner } }
    : {};
  return { name, spec: Promise.resolve({ metadata }) } as unknown as IKernel;
}

describe('isSandboxed', () => {
  it.each([
    [kernel('python3'), false],
    [kernel('python3', 'local-provisioner'), false],
    [kernel('openhands-sandbox'), true],
    [kernel('renamed', 'openhands-bubblewrap'), true]
  ])('tells kernels in sandboxes from others', async (tried, expected) => {
    expect(await isSandboxed(tried)).toBe(expected);
  });
});

class Comm {
  isDisposed = false;
  readonly sent: unknown[] = [];
  onMsg: (message: object) => void = () => undefined;
  onClose: () => void = () => undefined;

  open(data: unknown): void {
    this.sent.push(data);
  }

  send(data: unknown): void {
    this.sent.push(data);
  }

  close(): void {
    this.isDisposed = true;
    this.onClose();
  }

  hear(data: object): void {
    this.onMsg({ content: { data } });
  }
}

describe('openLine', () => {
  const at = (comm: Comm): IKernel =>
    ({
      createComm: () => comm as unknown as Kernel.IComm
    }) as unknown as IKernel;

  it('asks the kernel by the id alone, and tells it what becomes of it', async () => {
    const comm = new Comm();
    const opening = openLine(at(comm), 'an id');
    comm.hear({ type: 'task', id: 'an id', prompt: 'Do it' });
    const line = await opening;
    expect(line?.errand).toMatchObject({ type: 'task', prompt: 'Do it' });
    line?.tell({ state: 'running' });
    line?.close();
    line?.tell({ state: 'too late' });
    expect(comm.sent).toEqual([{ id: 'an id' }, { state: 'running' }]);
  });

  it('gives nothing for what the kernel does not know', async () => {
    const unknown = new Comm();
    const opening = openLine(at(unknown), 'from a file');
    unknown.hear({ type: 'unknown' });
    expect(await opening).toBeNull();
    expect(unknown.isDisposed).toBe(true);

    const closed = new Comm();
    const second = openLine(at(closed), 'without the magics');
    closed.close();
    expect(await second).toBeNull();
  });
});
