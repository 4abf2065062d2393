import { ApiError } from '../client';
import type { ApiClient, IMcpServer, IMcpStatus } from '../client';
import { MCP_INTERVAL, McpList, mcpStateText } from '../mcp';
import { PolledServer } from './polledserver';
import { trans } from './translation';

function server(
  state: IMcpServer['state'],
  tools: number = 0,
  name: string = 'db'
): IMcpServer {
  const tool = {
    name: 'db__x',
    tool: 'x',
    title: '',
    description: '',
    read_only: null,
    destructive: null,
    trusted: false
  };
  return {
    name,
    transport: 'stdio',
    where: 'npx db',
    state,
    tools: Array.from({ length: tools }, () => tool),
    message: '',
    stderr: '',
    notice: ''
  };
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
});

describe('mcpStateText', () => {
  it.each([
    [server('off', 3), 'Switched off'],
    [server('idle'), 'Not started yet'],
    [server('idle', 2), '2 tools, starts when it is used'],
    [server('starting'), 'Starting…'],
    [server('ready', 1), 'Ready, 1 tool'],
    [server('failed', 2), 'Failed']
  ])('tells how a server is', (given, text) => {
    expect(mcpStateText(trans, given)).toBe(text);
  });
});
