import { ApiError } from '../client';
import type { ApiClient, IInstallStatus } from '../client';
import { Installation, INSTALL_INTERVAL } from '../installation';
import { PolledServer } from './polledserver';

function status(state: IInstallStatus['state']): IInstallStatus {
  return { file: 'r.txt', state, message: '', hint: '', lines: [] };
}

class FakeClient extends PolledServer<IInstallStatus> {
  override answers = [status('missing')];

  installStatus = (): Promise<IInstallStatus> => this.answer('GET');

  install = (): Promise<IInstallStatus> => this.answer('POST');

  cancelInstall = (): Promise<void> => this.take('DELETE');
}

describe('Installation', () => {
  let client: FakeClient;
  let installation: Installation;

  beforeEach(() => {
    jest.useFakeTimers();
    client = new FakeClient();
    installation = new Installation(client as unknown as ApiClient);
  });

  afterEach(() => {
    installation.close();
    jest.useRealTimers();
  });

  it('looks again until the packages are installed', async () => {
    await installation.check();
    expect(installation.status?.state).toBe('missing');
    client.answers = [
      status('installing'),
      status('installing'),
      status('ready')
    ];
    const starting = installation.start();
    expect(installation.busy).toBe(true);
    await starting;
    expect(installation.busy).toBe(false);
    await jest.advanceTimersByTimeAsync(3 * INSTALL_INTERVAL);
    expect(installation.status?.state).toBe('ready');
    expect(client.asked).toEqual(['GET', 'POST', 'GET', 'GET']);
  });

  it('stops looking when it was cancelled', async () => {
    client.answers = [status('installing'), status('missing')];
    await installation.start();
    await installation.cancel();
    await jest.advanceTimersByTimeAsync(3 * INSTALL_INTERVAL);
    expect(installation.status?.state).toBe('missing');
    expect(client.asked).toEqual(['POST', 'DELETE', 'GET']);
  });

  it('says what went wrong and keeps what it knew', async () => {
    await installation.check();
    client.failing = new ApiError(409, 'no_requirements', 'No.', '');
    await installation.start();
    expect(installation.error).toBe(client.failing);
    expect(installation.status?.state).toBe('missing');
  });

  it('looks no more once it is closed', async () => {
    client.answers = [status('installing')];
    await installation.start();
    installation.close();
    await jest.advanceTimersByTimeAsync(3 * INSTALL_INTERVAL);
    expect(client.asked).toEqual(['POST']);
  });
});
