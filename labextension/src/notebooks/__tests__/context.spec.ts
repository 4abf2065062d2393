import type { NotebookPanel } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';
import { MessageContext } from '../context';
import type { OpenedNotebooks } from '../opened';
import type { IVariables } from '../variables';
import { readVariables } from '../variables';

jest.mock('../variables');

const read = readVariables as jest.MockedFunction<typeof readVariables>;
const VARIABLES: IVariables = {
  variables: [{ name: 'x', type: 'int' }],
  left_out: 0
};

/**
 * A page with one notebook in front, which has a kernel.
 */
class World {
  readonly kernel: { status: string; info: Promise<unknown> };
  readonly status = new Signal<this, void>(this);
  readonly changed = new Signal<this, void>(this);
  readonly context: MessageContext;
  current: NotebookPanel | null;

  constructor(language = 'python') {
    const info = { language_info: { name: language } };
    this.kernel = { status: 'idle', info: Promise.resolve(info) };
    this.current = {
      content: { activeCell: null },
      context: { model: { cells: [], contentChanged: new Signal(this) } },
      sessionContext: {
        session: { kernel: this.kernel },
        statusChanged: this.status
      }
    } as unknown as NotebookPanel;
    this.context = new MessageContext(this as unknown as OpenedNotebooks);
  }

  path = (): string => 'a.ipynb';

  describe = (): object[] =>
    this.current
      ? [{ path: 'a.ipynb', visible: true, dirty: false, kernel: null }]
      : [];

  async kinds(): Promise<string[]> {
    return (await this.context.collect([])).map(part => part.kind);
  }
}

describe('MessageContext', () => {
  beforeEach(() => {
    read.mockReset();
    read.mockResolvedValue(VARIABLES);
  });

  it('asks the kernel when the message is sent', async () => {
    const here = new World();
    await here.kernel.info;
    expect(here.context.variables).toBe('unread');
    expect(await here.context.collect([])).toEqual([
      { kind: 'notebook', path: 'a.ipynb', visible: true },
      { kind: 'variables', path: 'a.ipynb', ...VARIABLES }
    ]);
    expect(here.context.variables).toBe('read');
  });

  it('does not ask it for what is switched off', async () => {
    const here = new World();
    await here.kernel.info;
    expect(await here.context.collect(['variables', 'notebook'])).toEqual([]);
    expect(read).not.toHaveBeenCalled();
  });

  it('asks kernels of Python only', async () => {
    const here = new World('R');
    await here.kernel.info;
    expect(here.context.variables).toBe('none');
    expect(await here.kinds()).toEqual(['notebook']);
    expect(read).not.toHaveBeenCalled();
  });

  it('forgets what it knew when something else was done in the kernel', async () => {
    const here = new World();
    await here.kernel.info;
    await here.context.look();
    here.kernel.status = 'busy';
    here.status.emit();
    expect(here.context.variables).toBe('busy');
    read.mockResolvedValue(null);
    expect(await here.kinds()).toEqual(['notebook']);
  });

  it('waits for an answer that is on its way, and asks once', async () => {
    const here = new World();
    await here.kernel.info;
    void here.context.look();
    // The kernel answers us, and is busy with that for a moment.
    here.status.emit();
    expect(await here.kinds()).toEqual(['notebook', 'variables']);
    expect(read).toHaveBeenCalledTimes(1);
  });

  it('sends no variables where there are none', async () => {
    read.mockResolvedValue({ variables: [], left_out: 0 });
    const here = new World();
    await here.kernel.info;
    expect(await here.kinds()).toEqual(['notebook']);
  });

  it('knows of nothing when no notebook is open', async () => {
    const here = new World();
    await here.kernel.info;
    here.current = null;
    expect(await here.kinds()).toEqual([]);
    expect(here.context.variables).toBe('none');
  });
});
