import { ApiError } from '../client';
import type { ApiClient, IImageStatus } from '../client';
import { DockerImage, PULL_INTERVAL } from '../dockerimage';
import { PolledServer } from './polledserver';

function status(change: Partial<IImageStatus>): IImageStatus {
  return {
    image: 'x',
    state: 'ready',
    message: '',
    hint: '',
    python: '3.12.1',
    ipykernel: '7.0',
    lacks: [],
    done: 0,
    total: 0,
    ...change
  };
}

class FakeClient extends PolledServer<IImageStatus> {
  imageStatus = (image: string): Promise<IImageStatus> =>
    this.answer(`GET ${image}`);

  pullImage = (image: string): Promise<IImageStatus> =>
    this.answer(`POST ${image}`);

  cancelPull = (image: string): Promise<void> => this.take(`DELETE ${image}`);
}

describe('DockerImage', () => {
  let client: FakeClient;
  let image: DockerImage;

  beforeEach(() => {
    jest.useFakeTimers();
    client = new FakeClient();
    image = new DockerImage(client as unknown as ApiClient);
  });

  afterEach(() => {
    image.close();
    jest.useRealTimers();
  });

  it('says whether an image will do, and pulls nothing by itself', async () => {
    client.answers = [status({ state: 'missing' })];
    await image.check('x');
    await jest.advanceTimersByTimeAsync(10 * PULL_INTERVAL);
    expect(image.status?.state).toBe('missing');
    expect(client.asked).toEqual(['GET x']);
  });

  it('follows a pull to its end', async () => {
    client.answers = [
      status({ state: 'missing' }),
      status({ state: 'pulling' }),
      status({ state: 'pulling', done: 1, total: 2 }),
      status({ state: 'ready' })
    ];
    await image.check('x');
    await image.pull();
    expect(image.status?.state).toBe('pulling');
    await jest.advanceTimersByTimeAsync(PULL_INTERVAL);
    expect(image.status?.done).toBe(1);
    expect(image.busy).toBe(false);
    await jest.advanceTimersByTimeAsync(10 * PULL_INTERVAL);
    expect(image.status?.state).toBe('ready');
    expect(client.asked).toEqual(['GET x', 'POST x', 'GET x', 'GET x']);
  });

  it('stops a pull', async () => {
    client.answers = [
      status({ state: 'pulling' }),
      status({ state: 'missing' })
    ];
    await image.check('x');
    await image.cancel();
    expect(client.asked).toEqual(['GET x', 'DELETE x', 'GET x']);
    expect(image.status?.state).toBe('missing');
  });

  it('shows what went wrong, and what was known before', async () => {
    client.answers = [status({})];
    await image.check('x');
    client.failing = new ApiError(0, 'unreachable', '', '');
    await image.check('x');
    expect(image.error).toBe(client.failing);
    expect(image.status?.state).toBe('ready');
    client.failing = null;
    await image.check('x');
    expect(image.error).toBeNull();
  });

  it('takes no late answer for the image that is looked at now', async () => {
    client.answers = [status({ image: 'old' }), status({ image: 'new' })];
    const old = image.check('old');
    await image.check('new');
    await old;
    expect(image.status?.image).toBe('new');
  });

  it('asks no more when it is closed', async () => {
    client.answers = [status({ state: 'pulling' })];
    await image.check('x');
    image.close();
    await jest.advanceTimersByTimeAsync(10 * PULL_INTERVAL);
    expect(client.asked).toEqual(['GET x']);
  });
});
