import type { TranslationBundle } from '@jupyterlab/translation';
import type { ApiClient, IMcpServer, IMcpStatus } from './client';
import { Polled } from './polled';

/**
 * Milliseconds between two looks at servers that are being started.
 */
export const MCP_INTERVAL = 1000;

/**
 * The person's MCP servers, as they are in a session or outside of any.
 */
export class McpList extends Polled<IMcpStatus> {
  /**
   * @param _session - Id of the session; null for none.
   */
  constructor(
    private readonly _client: ApiClient,
    private readonly _session: string | null
  ) {
    super(MCP_INTERVAL);
  }

  async check(): Promise<void> {
    await this.ask(() => this.look());
  }

  /**
   * Start a server, or start it anew.
   */
  async restart(name: string): Promise<void> {
    await this.ask(async () => {
      await this._client.restartMcp(name, this._session);
      return this.look();
    });
  }

  protected look(): Promise<IMcpStatus> {
    return this._client.mcp(this._session);
  }

  protected goesOn(status: IMcpStatus): boolean {
    return status.servers.some(({ state }) => state === 'starting');
  }
}

/**
 * Say how a server is doing.
 */
export function mcpStateText(
  trans: TranslationBundle,
  { state, tools }: IMcpServer
): string {
  const count = tools.length;
  switch (state) {
    case 'off':
      return trans.__('Switched off');
    case 'starting':
      return trans.__('Starting…');
    case 'failed':
      return trans.__('Failed');
    case 'ready':
      return trans._n('Ready, %1 tool', 'Ready, %1 tools', count);
    case 'idle':
      return count > 0
        ? trans._n(
            '%1 tool, starts when it is used',
            '%1 tools, starts when it is used',
            count
          )
        : trans.__('Not started yet');
  }
}
