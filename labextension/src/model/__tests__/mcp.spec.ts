import { ApiError } from '../client';
import type { ApiClient, IMcpConsent, IMcpServer, IMcpStatus } from '../client';
import { MCP_INTERVAL, McpList, mcpFacts, mcpStateText } from '../mcp';
import { mcpServer, workspaceServer } from './mcpserver';
import { PolledServer } from './polledserver';
import { trans } from './translation';

function server(state: IMcpServer['state'], tools: number = 0): IMcpServer {
  const tool = {
    name: 'db__x',
    tool: 'x',
    title: '',
    description: '',
    read_only: null,
    destructive: null,
    trusted: false
  };
  return mcpServer({
    state,
    tools: Array.from({ length: tools }, () => tool)
  });
}

function status(...states: IMcpServer['state'][]): IMcpStatus {
  return { servers: states.map(state => server(state)), warnings: [] };
}

class FakeClient extends PolledServer<IMcpStatus> {
  override answers = [status('idle', 'failed')];

  mcp = (session: string | null): Promise<IMcpStatus> =>
    this.answer(`GET ${session}`);

  restartMcp = (name: string, session: string | null): Promise<void> =>
    this.take(`POST ${name} ${session}`);

  consentToMcp = (
    name: string,
    session: string | null,
    digest: string,
    consent: IMcpConsent
  ): Promise<void> =>
    digest === 'old'
      ? Promise.reject(new ApiError(409, 'mcp_server_changed', '', ''))
      : this.take(
          `PUT ${name} ${session} ${digest} ${JSON.stringify(consent)}`
        );
}

describe('McpList', () => {
  let client: FakeClient;
  let list: McpList;

  beforeEach(() => {
    jest.useFakeTimers();
    client = new FakeClient();
    list = new McpList(client as unknown as ApiClient, 's1');
  });

  afterEach(() => {
    list.close();
    jest.useRealTimers();
  });

  it('looks again only while a server is being started', async () => {
    await list.check();
    await jest.advanceTimersByTimeAsync(3 * MCP_INTERVAL);
    expect(client.asked).toEqual(['GET s1']);
    client.answers = [
      status('ready', 'starting'),
      status('ready', 'starting'),
      status('ready', 'ready')
    ];
    await list.restart('db');
    await jest.advanceTimersByTimeAsync(5 * MCP_INTERVAL);
    expect(client.asked).toEqual([
      'GET s1',
      'POST db s1',
      'GET s1',
      'GET s1',
      'GET s1'
    ]);
    expect(list.status).toEqual(status('ready', 'ready'));
  });

  it('says what went wrong and keeps what it knew', async () => {
    await list.check();
    client.failing = new ApiError(404, 'mcp_server_not_found', 'No.', '');
    await list.restart('gone');
    expect(list.error).toBe(client.failing);
    expect(list.status?.servers).toHaveLength(2);
  });

  it('allows what was seen, and gives what it is where that was changed', async () => {
    const now = mcpServer({ digest: 'new' });
    client.answers = [{ servers: [now], warnings: [] }];
    const old = mcpServer({ digest: 'old' });
    expect(await list.consent(old, { use: true })).toBe(now);
    expect(list.error).toBeNull();
    expect(await list.consent(now, { use: true, trust: 'reads' })).toBeNull();
    expect(client.asked).toEqual([
      'GET s1',
      'PUT db s1 new {"use":true,"trust":"reads"}',
      'GET s1'
    ]);
    // It is gone: there is nothing to show.
    client.answers = [{ servers: [], warnings: [] }];
    expect(await list.consent(old, { use: true })).toBeNull();
  });
});

describe('mcpFacts', () => {
  const facts = (given: IMcpServer): [string, readonly string[]][] =>
    mcpFacts(trans, given).map(({ label, values }) => [label, values]);

  it('has all of a definition', () => {
    const program = workspaceServer(
      {
        command: 'npx',
        args: ['-y', '', 'db "x"'],
        env: { A: '${KEY}', B: '' },
        cwd: '.'
      },
      { variables: ['KEY'] }
    );
    expect(facts(program)).toEqual([
      ['Name', ['db']],
      ['Written in', ['/home/ada/work/.mcp.json']],
      ['Secrets and variables of yours that it gets', ['KEY']],
      ['Command', ['npx']],
      ['Arguments', ['-y', '', 'db "x"']],
      ['Started in', ['.']],
      ['Environment', ['A=${KEY}', 'B=']]
    ]);
    const service = workspaceServer({
      url: 'https://x.example',
      headers: { Team: 'data' }
    });
    expect(facts(service).slice(2)).toEqual([
      ['Address', ['https://x.example']],
      ['Headers', ['Team: data']]
    ]);
  });

  it('tells of others what is no secret', () => {
    expect(facts(mcpServer({ file: '' }))).toEqual([
      ['Name', ['db']],
      ['Command', ['npx db']]
    ]);
  });
});

describe('mcpStateText', () => {
  it.each([
    [server('off', 3), 'Switched off'],
    [workspaceServer({}), 'Not allowed'],
    [server('idle'), 'Not started yet'],
    [server('idle', 2), '2 tools, starts when it is used'],
    [server('starting'), 'Starting…'],
    [server('ready', 1), 'Ready, 1 tool'],
    [server('failed', 2), 'Failed']
  ])('tells how a server is', (given, text) => {
    expect(mcpStateText(trans, given)).toBe(text);
  });
});
