import type { Kernel } from '@jupyterlab/services';
import { readVariables } from '../variables';

interface IFake {
  kernel: Kernel.IKernelConnection;
  asked: Record<string, unknown>[];
  disposed: number;
}

function fake(done: Promise<unknown>, status = 'idle'): IFake {
  const made: IFake = { asked: [], disposed: 0 } as unknown as IFake;
  made.kernel = {
    status,
    requestExecute: (content: Record<string, unknown>) => {
      made.asked.push(content);
      return { done, dispose: () => made.disposed++ };
    }
  } as unknown as Kernel.IKernelConnection;
  return made;
}

function reply(text: string): Promise<unknown> {
  const told = { status: 'ok', data: { 'text/plain': text } };
  const content = { status: 'ok', user_expressions: { told } };
  return Promise.resolve({ content });
}

function answer(value: unknown): Promise<unknown> {
  return reply(`'${btoa(JSON.stringify(value))}'`);
}

describe('readVariables', () => {
  afterEach(() => jest.useRealTimers());

  it('asks silently, and leaves no cell behind', async () => {
    const variables = [{ name: 'x', type: 'int' }];
    const here = fake(answer({ variables, left_out: 3 }));
    expect(await readVariables(here.kernel)).toEqual({
      variables,
      left_out: 3
    });
    expect(here.asked).toHaveLength(1);
    expect(here.asked[0]).toMatchObject({
      code: '',
      silent: true,
      store_history: false,
      allow_stdin: false
    });
    expect(here.disposed).toBe(1);
  });

  it.each(['busy', 'starting', 'dead', 'unknown'])(
    'does not ask a kernel that is %s',
    async status => {
      const here = fake(answer({ variables: [], left_out: 0 }), status);
      expect(await readVariables(here.kernel)).toBeNull();
      expect(here.asked).toEqual([]);
    }
  );

  it('gives up a kernel that does not answer in time', async () => {
    jest.useFakeTimers();
    const here = fake(new Promise(() => undefined));
    const read = readVariables(here.kernel);
    await jest.advanceTimersByTimeAsync(1000);
    expect(await read).toBeNull();
    expect(here.disposed).toBe(1);
  });

  it.each([
    ['no base64', reply("'?'")],
    ['nothing', reply("''")],
    ['a number', answer(3)],
    ['no list', answer({ variables: 'x' })],
    ['an error', Promise.resolve({ content: { status: 'error' } })]
  ])('takes %s for no answer', async (_, done) => {
    expect(await readVariables(fake(done).kernel)).toBeNull();
  });

  it('lives with a kernel that dies', async () => {
    const here = fake(Promise.reject(new Error('gone')));
    expect(await readVariables(here.kernel)).toBeNull();
  });

  it('takes no more than the server does', async () => {
    const one = {
      name: 'x'.repeat(900),
      type: 3,
      shape: [...Array<unknown>(99).fill(-1)],
      dtypes: Array<string>(99).fill('\ud800'),
      value: 'secret'
    };
    const here = fake(
      answer({ variables: Array<unknown>(900).fill(one), left_out: 'x' })
    );
    const read = await readVariables(here.kernel);
    expect(read?.left_out).toBe(0);
    expect(read?.variables).toHaveLength(100);
    expect(read?.variables[0]).toEqual({
      name: 'x'.repeat(200),
      type: '?',
      shape: Array<number>(64).fill(0),
      dtypes: Array<string>(20).fill('\ufffd')
    });
  });
});
