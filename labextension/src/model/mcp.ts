import type { TranslationBundle } from '@jupyterlab/translation';
import { ApiError } from './client';
import type { ApiClient, IMcpConsent, IMcpServer, IMcpStatus } from './client';
import { Polled } from './polled';

/**
 * Milliseconds between two looks at servers that are being started.
 */
export const MCP_INTERVAL = 1000;

/**
 * The MCP servers, as they are in a session or outside of any.
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

  /**
   * Allow a server something, or take that back.
   *
   * @param seen - The server as the person has seen it.
   *
   * @returns What it is now, where it was changed meanwhile and so nothing was allowed; else null.
   */
  async consent(
    seen: IMcpServer,
    consent: IMcpConsent
  ): Promise<IMcpServer | null> {
    const { name, digest } = seen;
    let changed: IMcpServer | null = null;
    await this.ask(async () => {
      const refused = await this._client
        .consentToMcp(name, this._session, digest, consent)
        .then(() => false, isOutdated);
      const status = await this.look();
      changed =
        (refused && status.servers.find(server => server.name === name)) ||
        null;
      return status;
    });
    return changed;
  }

  protected look(): Promise<IMcpStatus> {
    return this._client.mcp(this._session);
  }

  protected goesOn(status: IMcpStatus): boolean {
    return status.servers.some(({ state }) => state === 'starting');
  }
}

function isOutdated(error: unknown): true {
  if (error instanceof ApiError && error.code === 'mcp_server_changed') {
    return true;
  }
  throw error;
}

/**
 * Say how a server is doing.
 */
export function mcpStateText(
  trans: TranslationBundle,
  { consent, state, tools }: IMcpServer
): string {
  const count = tools.length;
  switch (state) {
    case 'off':
      return consent === false
        ? trans.__('Not allowed')
        : trans.__('Switched off');
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

/**
 * Something that decides over a server, by name.
 */
export interface IMcpFact {
  label: string;
  values: readonly string[];
}

/**
 * What a server's definition holds, as the server has it (`ServerConfig.definition`).
 */
interface IMcpDefinition {
  command: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  url: string;
  headers: Record<string, string>;
}

/**
 * What a person has to know of a server before they allow it anything: what it starts or reaches,
 * with what, and where that is written.
 */
export function mcpFacts(
  trans: TranslationBundle,
  server: IMcpServer
): IMcpFact[] {
  const { definition, file, name, transport, variables, where } = server;
  const facts = definition
    ? definedFacts(trans, JSON.parse(definition) as IMcpDefinition)
    : [
        {
          label:
            transport === 'stdio' ? trans.__('Command') : trans.__('Address'),
          values: [where]
        }
      ];
  return [
    { label: trans.__('Name'), values: [name] },
    { label: trans.__('Written in'), values: [file].filter(Boolean) },
    {
      label: trans.__('Secrets and variables of yours that it gets'),
      values: variables
    },
    ...facts
  ].filter(({ values }) => values.length > 0);
}

function definedFacts(
  trans: TranslationBundle,
  definition: IMcpDefinition
): IMcpFact[] {
  const { args, command, cwd, env, headers, url } = definition;
  return [
    { label: trans.__('Command'), values: [command].filter(Boolean) },
    { label: trans.__('Arguments'), values: args },
    { label: trans.__('Started in'), values: [cwd].filter(Boolean) },
    { label: trans.__('Environment'), values: pairs(env, '=') },
    { label: trans.__('Address'), values: [url].filter(Boolean) },
    { label: trans.__('Headers'), values: pairs(headers, ': ') }
  ];
}

function pairs(values: Record<string, string>, between: string): string[] {
  return Object.entries(values).map(
    ([name, value]) => `${name}${between}${value}`
  );
}
