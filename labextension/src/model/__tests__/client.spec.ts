import type { ServerConnection } from '@jupyterlab/services';
import { ApiClient, ApiError } from '../client';
import { log, sessionInfo, userMessage } from './samples';

interface ICall {
  url: string;
  method: string | undefined;
  body: unknown;
}

interface IAnswer {
  status?: number;
  body?: unknown;
  text?: string;
}

function makeClient(
  answer: IAnswer | Error,
  settings: Partial<ServerConnection.ISettings> = {}
): { client: ApiClient; calls: ICall[] } {
  const calls: ICall[] = [];
  const client = new ApiClient(
    {
      baseUrl: 'http://host/user/x/',
      wsUrl: 'ws://host/user/x/',
      token: 'secret',
      appendToken: false,
      ...settings
    } as ServerConnection.ISettings,
    (url, init) => {
      const body = init.body as string | undefined;
      calls.push({ url, method: init.method, body: body && JSON.parse(body) });
      if (answer instanceof Error) {
        return Promise.reject(answer);
      }
      const status = answer.status ?? 200;
      return Promise.resolve({
        ok: status < 400,
        status,
        json: () =>
          answer.text === undefined
            ? Promise.resolve(answer.body)
            : Promise.reject(new SyntaxError(answer.text))
      } as Response);
    }
  );
  return { client, calls };
}

describe('ApiClient', () => {
  it('says what a sandbox may reach as an event', async () => {
    const { client, calls } = makeClient({ status: 201, body: { id: 1 } });
    await client.changeAccess('a', { host: 'a.org', port: 80 }, 'once');
    const body = {
      type: 'NetworkAccessAction',
      host: 'a.org',
      port: 80,
      access: 'once'
    };
    const url = 'http://host/user/x/openhands/api/sessions/a/events';
    expect(calls).toEqual([{ url, method: 'POST', body }]);
  });

  it('tells which field of a request is wrong', async () => {
    const { client } = makeClient({
      status: 422,
      body: { code: 'invalid_field', message: 'No.', field: 'pip_index' }
    });
    await expect(
      client.changeSettings({ pip_index: 'x' })
    ).rejects.toMatchObject({ field: 'pip_index', message: 'No.' });
  });

  it('measures and removes what was installed', async () => {
    const { client, calls } = makeClient({ body: { size: 12 } });
    expect(await client.packagesSize('a')).toBe(12);
    await client.removePackages('a');
    const url = 'http://host/user/x/openhands/api/sessions/a/packages';
    expect(calls.map(call => [call.method, call.url])).toEqual([
      ['GET', url],
      ['DELETE', url]
    ]);
  });

  it('asks for the Pythons and for an installation', async () => {
    const python = { value: 'x', label: 'X' };
    const { client, calls } = makeClient({ body: { pythons: [python] } });
    expect(await client.pythons()).toEqual([python]);
    await client.install();
    await client.installStatus();
    await client.cancelInstall();
    expect(calls.map(call => call.method)).toEqual([
      'GET',
      'POST',
      'GET',
      'DELETE'
    ]);
  });

  it('names the session in which an MCP server is meant', async () => {
    const { client, calls } = makeClient({ body: { servers: [] } });
    await client.mcp(null);
    await client.mcp('s1');
    await client.restartMcp('my/db', 's1');
    await client.consentToMcp('my/db', 's1', 'd', { use: true, trust: null });
    expect(calls.map(({ url }) => url.split('/api/').pop())).toEqual([
      'mcp',
      'mcp?session=s1',
      'mcp/my%2Fdb/restart',
      'mcp/my%2Fdb/consent'
    ]);
    expect(calls[3].method).toBe('PUT');
    expect(calls[3].body).toEqual({
      session: 's1',
      digest: 'd',
      use: true,
      trust: null
    });
  });

  it('names an image only where there is a name', async () => {
    const { client, calls } = makeClient({ body: { state: 'missing' } });
    await client.imageStatus('');
    await client.imageStatus('localhost:5000/a&b');
    await client.pullImage('');
    await client.pullImage('x');
    await client.cancelPull('x');
    const route = 'http://host/user/x/openhands/api/sandbox/image';
    expect(calls).toEqual([
      { url: route, method: 'GET', body: undefined },
      {
        url: `${route}?image=localhost%3A5000%2Fa%26b`,
        method: 'GET',
        body: undefined
      },
      { url: route, method: 'POST', body: {} },
      { url: route, method: 'POST', body: { image: 'x' } },
      { url: `${route}?image=x`, method: 'DELETE', body: undefined }
    ]);
  });

  it('speaks below the base address', async () => {
    const { client, calls } = makeClient({ body: { id: 3 } });
    await client.sendMessage('a/b', 'hi');
    expect(calls).toEqual([
      {
        url: 'http://host/user/x/openhands/api/sessions/a%2Fb/messages',
        method: 'POST',
        body: { content: 'hi', context: [] }
      }
    ]);
  });

  it('gives a page of events oldest first', async () => {
    const newestFirst = log(5, userMessage('a'), userMessage('b')).reverse();
    const { client, calls } = makeClient({ body: { events: newestFirst } });
    const events = await client.eventsBefore('a', 7, 50);
    expect(events.map(({ id }) => id)).toEqual([5, 6]);
    expect(calls[0].url).toMatch(/events\?order=desc&limit=50&before=7$/);
  });

  it('sends of a decision only what there is', async () => {
    const { client, calls } = makeClient({ body: {} });
    await client.decide('a', 4, { decision: 'approve' });
    expect(calls[0].body).toEqual({ decision: 'approve' });
    const cells = [{ id: 'c', decision: 'reject' as const }];
    await client.decide('a', 4, { decision: 'approve', cells });
    expect(calls[1].body).toEqual({ decision: 'approve', cells });
  });

  it('tries what waits for a decision, and stops that', async () => {
    const { client, calls } = makeClient({ body: {} });
    const cells = [{ id: 'c', decision: 'reject' as const }];
    await client.tryOut('a', 4, cells);
    await client.stopTrying('a', 4);
    expect(calls.map(({ url }) => url.split('/api/')[1])).toEqual([
      'sessions/a/confirmations/4/trial',
      'sessions/a/confirmations/4/trial'
    ]);
    expect(calls[0].body).toEqual({ cells });
  });

  it('names the token in the address of the socket only where it has to', () => {
    expect(makeClient({}).client.streamUrl('a', -1)).toBe(
      'ws://host/user/x/openhands/api/sessions/a/stream?after=-1'
    );
    const { client } = makeClient({}, { appendToken: true });
    expect(client.streamUrl('a', 3)).toContain('after=3&token=secret');
  });

  it('hands on what the server says about an error', async () => {
    const { client } = makeClient({
      status: 409,
      body: { code: 'stale', message: 'Too late.', hint: 'Look again.' }
    });
    const error = await client.session('a').catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 409,
      code: 'stale',
      message: 'Too late.',
      hint: 'Look again.'
    });
  });

  it.each([
    ['a page of a proxy', { status: 502, text: '<html>' }, 502],
    [
      'an error of Jupyter itself',
      { status: 403, body: { message: 'Forbidden' } },
      403
    ],
    ['no connection', new TypeError('Failed to fetch'), 0]
  ])('makes an error without words of %s', async (_, answer, status) => {
    const { client } = makeClient(answer);
    const error = await client.sessions().catch((e: unknown) => e);
    expect(error).toMatchObject({ status, message: '' });
  });

  it('refuses an answer that is not what was asked for', async () => {
    const { client } = makeClient({ body: { nonsense: true } });
    await expect(client.session('a')).rejects.toThrow();
    const { client: right } = makeClient({ body: sessionInfo() });
    await expect(right.session('a')).resolves.toMatchObject({ id: 'a' });
  });
});
