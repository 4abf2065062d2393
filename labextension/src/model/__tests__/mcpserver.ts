import type { IMcpServer } from '../client';

/**
 * A server of the person's own, but for what is given.
 */
export function mcpServer(given: Partial<IMcpServer> = {}): IMcpServer {
  return {
    name: 'db',
    transport: 'stdio',
    where: 'npx db',
    state: 'idle',
    tools: [],
    message: '',
    stderr: '',
    notice: '',
    origin: 'person',
    file: '/home/ada/.openhands/mcp.json',
    definition: '',
    digest: 'd1',
    variables: [],
    consent: null,
    trust: false,
    ...given
  };
}

/**
 * One that a workspace names and nobody has allowed.
 */
export function workspaceServer(
  definition: Record<string, unknown>,
  given: Partial<IMcpServer> = {}
): IMcpServer {
  return mcpServer({
    state: 'off',
    origin: 'workspace',
    file: '/home/ada/work/.mcp.json',
    definition: JSON.stringify({
      transport: 'stdio',
      command: '',
      args: [],
      env: {},
      cwd: '',
      url: '',
      headers: {},
      ...definition
    }),
    consent: false,
    ...given
  });
}
