import type { ServerConnection } from '@jupyterlab/services';
import type { ContextPart } from './context';
import type { EnvironmentSetting } from './environment';
import type {
  ConfirmationAction,
  NetworkAccessAction,
  NotebookRestored
} from './events';
import { parseEvents, parseSession } from './frames';
import type { AnyEvent, ISessionInfo, Mode } from './frames';
import type { LimitSetting } from './limits';
import type { ModelSetting } from './modelsettings';
import type { IPlace, NetworkSetting } from './network';
import { isRecord } from './records';
import type { IDiagnosis } from './diagnosis';

/**
 * A request that the server did not fulfil.
 */
export class ApiError extends Error {
  constructor(
    /** HTTP status; 0 when the server could not be reached. */
    readonly status: number,
    /** Short and stable, such as `session_not_found`; empty if the server gave none. */
    readonly code: string,
    /** A sentence for the person; empty if the server gave none. */
    message: string,
    /** What to do about it. */
    readonly hint: string,
    /** The field of the request that is wrong; empty if none is named. */
    readonly field = ''
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

/**
 * A setting, and where its value comes from.
 */
export interface ISetting {
  value: string | number | readonly string[] | null;
  origin: string;
  /** The file, or the name of the variable; empty for a default. */
  where: string;
  /** Of the file, from 1. */
  line: number | null;
  locked: boolean;
}

/**
 * An entry of the configuration that is not in force as it was written.
 */
export interface IConfigProblem {
  severity: 'error' | 'warning';
  where: string;
  line: number | null;
  message: string;
}

export interface ISecret {
  name: string;
  origin: string;
  /** Whether a person may allow it into a sandbox. */
  for_sandbox: boolean;
  /** Why not, as a phrase; empty if they may. */
  why_not: string;
}

export interface ISettings {
  settings: Readonly<Record<string, ISetting>>;
  secrets: readonly ISecret[];
  problems: readonly IConfigProblem[];
}

/**
 * Name of the guided tour among the models; no AI answers there.
 */
export const TOUR = 'tour';

export interface IModel {
  name: string;
  label: string;
  provider: string;
  ready: boolean;
  hint: string;
  /** Whether a server on the same computer has it. */
  local: boolean;
}

/**
 * What came of trying out a model.
 */
export interface IModelReport {
  model: string;
  checks: {
    subject: 'key' | 'streaming' | 'tool_calls' | 'vision' | 'window';
    status: 'ok' | 'failed' | 'unknown';
    message: string;
    hint: string;
  }[];
}

/**
 * An agent that can be chosen.
 */
export interface IAgent {
  name: string;
  title: string;
  description: string;
  /** Why it cannot be used; empty if it can. */
  problem: string;
}

export interface IHealth {
  status: string;
  version: string;
  sandbox: { backend: string; available: boolean; notice: string };
}

/**
 * Whether an image will do for Docker sandboxes.
 */
export interface IImageStatus {
  image: string;
  state: 'ready' | 'incomplete' | 'missing' | 'pulling' | 'unavailable';
  message: string;
  hint: string;
  python: string;
  ipykernel: string;
  /** What a sandbox needs and the image does not have, a phrase each. */
  lacks: readonly string[];
  /** Bytes of a pull. */
  done: number;
  total: number;
}

/**
 * A Python that the agent may be given.
 */
export interface IPython {
  /** What to set; empty for the server's own. */
  value: string;
  label: string;
  path: string;
  version: string;
  /** Why it cannot be used; empty if it can. */
  problem: string;
}

/**
 * Whether what the requirements file lists is installed.
 */
export interface IInstallStatus {
  file: string;
  state: 'none' | 'missing' | 'installing' | 'ready' | 'failed';
  message: string;
  hint: string;
  /** The last lines that were printed. */
  lines: readonly string[];
}

/**
 * A tool of an MCP server, as the server describes it.
 */
export interface IMcpTool {
  /** As a model is told of it. */
  name: string;
  /** As the server names it. */
  tool: string;
  title: string;
  description: string;
  /** What the server says of it; null where it says nothing. */
  read_only: boolean | null;
  destructive: boolean | null;
  /** Whether its calls run without asking. */
  trusted: boolean;
}

/**
 * Which of a server's tools are called without asking: none, all, those that say that they only
 * read, or these, by the server's own names.
 */
export type McpTrust = boolean | 'reads' | readonly string[];

/**
 * How an MCP server is doing.
 */
export interface IMcpServer {
  name: string;
  transport: 'stdio' | 'sse' | 'http';
  /** The command, or the address. */
  where: string;
  state: 'off' | 'idle' | 'starting' | 'ready' | 'failed';
  tools: readonly IMcpTool[];
  message: string;
  /** The end of its error output. */
  stderr: string;
  notice: string;
  origin: 'person' | 'administrator' | 'workspace';
  /** The file that it is written in; empty for the administrator's. */
  file: string;
  /** All that decides over a server of a workspace, as JSON; empty for others. */
  definition: string;
  /** Its definition as a hash. */
  digest: string;
  /** The secrets and variables that it is given, by name. */
  variables: readonly string[];
  /** Whether the person allowed it; null where it needs no consent. */
  consent: boolean | null;
  trust: McpTrust;
}

/**
 * What the person allows an MCP server; what is left out stays as it is.
 */
export interface IMcpConsent {
  /** Whether it may be used; only for a server of a workspace. */
  use?: boolean;
  /** Null for what is configured. */
  trust?: McpTrust | null;
}

/**
 * The MCP servers that are configured, and what is wrong with others.
 */
export interface IMcpStatus {
  servers: readonly IMcpServer[];
  warnings: readonly string[];
}

/**
 * A path that differs between two states of the workspace.
 */
export interface IFileChange {
  path: string;
  kind: 'added' | 'deleted' | 'link' | 'mode' | 'modified' | 'type';
  before: IFileState | null;
  after: IFileState | null;
  /** Why an undo leaves it alone unless it is forced; else empty. */
  conflict: string;
}

export interface IFileState {
  kind: 'file' | 'folder' | 'link' | 'other';
  size: number;
  mode: number;
}

export interface IChanges {
  changes: IFileChange[];
  /** All that differ; the list may be shorter. */
  total: number;
  /** Of the one path that was asked for. */
  texts: { before: string; after: string; notice: string } | null;
}

export interface IRestorePreview {
  event: number;
  changes: IFileChange[];
  total: number;
  failed: IFileChange[];
  cells: number;
  uncertain: boolean;
  others: string[];
  /** Those that are taken back cell by cell, and not as files. */
  notebooks: NotebookRestored[];
}

export type GatewaySetting =
  'gateway_url' | 'gateway_kernel' | 'gateway_folder';

export type SettingsChange = Partial<
  Record<
    | 'model'
    | 'base_url'
    | ModelSetting
    | 'mode'
    | 'agent'
    | 'isolation'
    | 'docker_image'
    | LimitSetting
    | 'stuck_detection'
    | 'timeout'
    | GatewaySetting
    | EnvironmentSetting
    | NetworkSetting,
    string | number | boolean | string[] | null
  >
>;

export interface ISessionChange {
  title?: string;
  mode?: Mode;
  agent?: string;
  model?: string;
  step_limit?: number;
  cost_limit?: number;
  token_limit?: number;
  time_limit?: number;
  secrets?: string[];
}

/**
 * What a person says to an action that waits for it.
 */
export type IDecision = Pick<
  ConfirmationAction,
  'decision' | 'reason' | 'cells'
>;

type MakeRequest = typeof ServerConnection.makeRequest;

/**
 * The REST API of the server extension, as documented in docs/architecture.md.
 *
 * Every method throws an `ApiError` when the server refuses or cannot be reached.
 */
export class ApiClient {
  constructor(
    private readonly _settings: ServerConnection.ISettings,
    private readonly _makeRequest: MakeRequest
  ) {}

  async health(): Promise<IHealth> {
    return (await this._json('GET', 'health')) as unknown as IHealth;
  }

  async sessions(): Promise<ISessionInfo[]> {
    const answer = await this._json('GET', 'sessions');
    return (answer.sessions as unknown[]).map(parseSession);
  }

  async createSession(
    mode?: Mode,
    more: { agent?: string; model?: string; workspace?: string } = {}
  ): Promise<ISessionInfo> {
    const body = mode ? { ...more, mode } : more;
    return parseSession(await this._json('POST', 'sessions', body));
  }

  async session(id: string): Promise<ISessionInfo> {
    return parseSession(await this._json('GET', sessionRoute(id)));
  }

  async changeSession(
    id: string,
    change: ISessionChange
  ): Promise<ISessionInfo> {
    return parseSession(await this._json('PATCH', sessionRoute(id), change));
  }

  async diagnosis(id: string): Promise<IDiagnosis> {
    const answer = await this._json('GET', `${sessionRoute(id)}/diagnosis`);
    return answer as unknown as IDiagnosis;
  }

  async deleteSession(id: string): Promise<void> {
    await this._request('DELETE', sessionRoute(id));
  }

  /**
   * Say something to the agent.
   *
   * @returns The id of the event that it is on the log as.
   */
  async sendMessage(
    id: string,
    content: string,
    context: readonly ContextPart[] = []
  ): Promise<number> {
    const route = `${sessionRoute(id)}/messages`;
    const body = { content, context };
    return (await this._json('POST', route, body)).id as number;
  }

  /**
   * The newest events before an event, oldest first.
   *
   * @param before - Id of the event; undefined for the newest events of all.
   */
  async eventsBefore(
    id: string,
    before: number | undefined,
    limit: number
  ): Promise<AnyEvent[]> {
    const query = new URLSearchParams({ order: 'desc', limit: `${limit}` });
    if (before !== undefined) {
      query.set('before', `${before}`);
    }
    const answer = await this._json(
      'GET',
      `${sessionRoute(id)}/events?${query.toString()}`
    );
    return parseEvents(answer.events).reverse();
  }

  /**
   * The events after an event, oldest first.
   */
  async eventsAfter(id: string, after: number): Promise<AnyEvent[]> {
    const route = `${sessionRoute(id)}/events?after=${after}`;
    return parseEvents((await this._json('GET', route)).events);
  }

  async decide(id: string, action: number, decision: IDecision): Promise<void> {
    await this._request(
      'POST',
      `${sessionRoute(id)}/confirmations/${action}`,
      decision
    );
  }

  /**
   * Try in the sandbox what waits for a decision.
   *
   * @param cells - What was decided of single cells so far.
   */
  async tryOut(
    id: string,
    action: number,
    cells: IDecision['cells']
  ): Promise<void> {
    await this._request('POST', dryRunRoute(id, action), { cells });
  }

  /**
   * Stop that, if it runs.
   */
  async stopTrying(id: string, action: number): Promise<void> {
    await this._request('DELETE', dryRunRoute(id, action));
  }

  /**
   * Say whether a session's sandbox may reach a place.
   */
  async changeAccess(
    id: string,
    place: IPlace,
    access: NetworkAccessAction['access']
  ): Promise<void> {
    const { host, port } = place;
    await this._request('POST', `${sessionRoute(id)}/events`, {
      type: 'NetworkAccessAction',
      host,
      port,
      access
    });
  }

  async setState(id: string, command: 'run' | 'pause' | 'stop'): Promise<void> {
    await this._request('POST', `${sessionRoute(id)}/state`, { command });
  }

  /**
   * What differs between two checkpoints.
   *
   * @param path - A path whose text is wanted too; undefined for all paths.
   */
  async diff(
    id: string,
    from: string,
    to: string,
    path?: string
  ): Promise<IChanges> {
    const query = new URLSearchParams({ from, to });
    if (path !== undefined) {
      query.set('path', path);
    }
    const route = `${sessionRoute(id)}/diff?${query.toString()}`;
    return (await this._json('GET', route)) as unknown as IChanges;
  }

  /**
   * What an undo of a turn would do now.
   */
  async undoPreview(id: string, turn: number): Promise<IRestorePreview> {
    const route = `${sessionRoute(id)}/undo?turn=${turn}`;
    return (await this._json('GET', route)) as unknown as IRestorePreview;
  }

  /**
   * Undo a turn.
   *
   * @param turn - Id of its first action; undefined for the last turn.
   * @param force - Paths to be restored although somebody else changed them.
   *
   * @returns The id of the action, which an event answers.
   */
  async undo(
    id: string,
    turn: number | undefined,
    force: string[]
  ): Promise<number> {
    const route = `${sessionRoute(id)}/undo`;
    return (await this._json('POST', route, { turn, force })).id as number;
  }

  /**
   * What a rewind to before an event would do now.
   */
  async rewindPreview(id: string, event: number): Promise<IRestorePreview> {
    const route = `${sessionRoute(id)}/rewind?event=${event}`;
    return (await this._json('GET', route)) as unknown as IRestorePreview;
  }

  /**
   * Go back to before an event.
   */
  async rewind(
    id: string,
    event: number,
    replay: boolean,
    force: string[]
  ): Promise<void> {
    const body = { event, replay, force };
    await this._request('POST', `${sessionRoute(id)}/rewind`, body);
  }

  async blob(id: string, sha256: string): Promise<Blob> {
    const response = await this._request(
      'GET',
      `${sessionRoute(id)}/blobs/${encodeURIComponent(sha256)}`
    );
    return response.blob();
  }

  async settings(): Promise<ISettings> {
    return (await this._json('GET', 'settings')) as unknown as ISettings;
  }

  async changeSettings(change: SettingsChange): Promise<ISettings> {
    return (await this._json(
      'PUT',
      'settings',
      change
    )) as unknown as ISettings;
  }

  async setSecret(name: string, value: string): Promise<void> {
    await this._request('PUT', secretRoute(name), { value });
  }

  async deleteSecret(name: string): Promise<void> {
    await this._request('DELETE', secretRoute(name));
  }

  /**
   * The models to choose from; those of servers on the same computer only if `local`.
   */
  async models(local = false): Promise<IModel[]> {
    const route = local ? 'models?local=true' : 'models';
    return (await this._json('GET', route)).models as IModel[];
  }

  /**
   * Try out the configured model.
   */
  async testModel(): Promise<IModelReport> {
    const answer = await this._json('POST', 'models/test', {});
    return answer as unknown as IModelReport;
  }

  async agents(): Promise<IAgent[]> {
    return (await this._json('GET', 'agents')).agents as IAgent[];
  }

  /**
   * The person's MCP servers, in a session or outside of any.
   */
  async mcp(session: string | null): Promise<IMcpStatus> {
    const query = session === null ? '' : `?session=${session}`;
    return (await this._json('GET', `mcp${query}`)) as unknown as IMcpStatus;
  }

  /**
   * Begin to start one of them anew.
   */
  async restartMcp(name: string, session: string | null): Promise<void> {
    const route = `mcp/${encodeURIComponent(name)}/restart`;
    await this._json('POST', route, session === null ? {} : { session });
  }

  /**
   * Keep what the person allows one of them.
   *
   * @param digest - Of the definition that they have seen; refused where it is another by now.
   */
  async consentToMcp(
    name: string,
    session: string | null,
    digest: string,
    consent: IMcpConsent
  ): Promise<void> {
    const route = `mcp/${encodeURIComponent(name)}/consent`;
    const place = session === null ? {} : { session };
    await this._json('PUT', route, { ...place, digest, ...consent });
  }

  async pythons(): Promise<IPython[]> {
    return (await this._json('GET', 'sandbox/pythons')).pythons as IPython[];
  }

  async installStatus(): Promise<IInstallStatus> {
    const route = 'sandbox/requirements';
    return (await this._json('GET', route)) as unknown as IInstallStatus;
  }

  /**
   * Begin to install what the requirements file lists.
   */
  async install(): Promise<IInstallStatus> {
    const route = 'sandbox/requirements';
    return (await this._json('POST', route)) as unknown as IInstallStatus;
  }

  async cancelInstall(): Promise<void> {
    await this._request('DELETE', 'sandbox/requirements');
  }

  /**
   * Bytes of what was installed in the sandboxes of a session's workspace.
   */
  async packagesSize(id: string): Promise<number> {
    const answer = await this._json('GET', `${sessionRoute(id)}/packages`);
    return answer.size as number;
  }

  async removePackages(id: string): Promise<void> {
    await this._request('DELETE', `${sessionRoute(id)}/packages`);
  }

  /**
   * Look into an image, or at its pull.
   *
   * @param image - Its name; empty for the configured one.
   */
  async imageStatus(image: string): Promise<IImageStatus> {
    return (await this._json(
      'GET',
      imageRoute(image)
    )) as unknown as IImageStatus;
  }

  async pullImage(image: string): Promise<IImageStatus> {
    return (await this._json(
      'POST',
      imageRoute(''),
      image ? { image } : {}
    )) as unknown as IImageStatus;
  }

  async cancelPull(image: string): Promise<void> {
    await this._request('DELETE', imageRoute(image));
  }

  /**
   * Address of a session's socket.
   *
   * @param after - Id of the last event that is already known; -1 for none.
   */
  streamUrl(id: string, after: number): string {
    const query = new URLSearchParams({ after: `${after}` });
    if (this._settings.appendToken && this._settings.token) {
      query.set('token', this._settings.token);
    }
    const base = withSlash(this._settings.wsUrl);
    return `${base}openhands/api/${sessionRoute(id)}/stream?${query.toString()}`;
  }

  /**
   * Open a session's socket.
   */
  openStream(id: string, after: number): WebSocket {
    return new this._settings.WebSocket(this.streamUrl(id, after));
  }

  private async _json(
    method: string,
    route: string,
    body?: unknown
  ): Promise<Record<string, unknown>> {
    const response = await this._request(method, route, body);
    const answer: unknown = await response.json();
    if (!isRecord(answer)) {
      throw new ApiError(response.status, 'unexpected_answer', '', '');
    }
    return answer;
  }

  private async _request(
    method: string,
    route: string,
    body?: unknown
  ): Promise<Response> {
    const url = `${withSlash(this._settings.baseUrl)}openhands/api/${route}`;
    const init: RequestInit = { method };
    if (body !== undefined) {
      init.body = JSON.stringify(body);
    }
    let response: Response;
    try {
      response = await this._makeRequest(url, init, this._settings);
    } catch {
      throw new ApiError(0, 'unreachable', '', '');
    }
    if (!response.ok) {
      throw await readError(response);
    }
    return response;
  }
}

async function readError(response: Response): Promise<ApiError> {
  let answer: unknown = null;
  try {
    answer = await response.json();
  } catch {
    // A proxy in between answers with HTML; the status has to do.
  }
  const text = (name: string): string =>
    isRecord(answer) && typeof answer[name] === 'string' ? answer[name] : '';
  // Jupyter's own errors have a message but no code; they are not written for people.
  const message = text('code') ? text('message') : '';
  return new ApiError(
    response.status,
    text('code'),
    message,
    text('hint'),
    text('field')
  );
}

function secretRoute(name: string): string {
  return `secrets/${encodeURIComponent(name)}`;
}

function sessionRoute(id: string): string {
  return `sessions/${encodeURIComponent(id)}`;
}

function dryRunRoute(id: string, action: number): string {
  return `${sessionRoute(id)}/confirmations/${action}/trial`;
}

function imageRoute(image: string): string {
  const query = new URLSearchParams({ image });
  return image ? `sandbox/image?${query.toString()}` : 'sandbox/image';
}

function withSlash(url: string): string {
  return url.endsWith('/') ? url : `${url}/`;
}
