import type {
  Event,
  IsolationObservation,
  NetworkAccessAction,
  StuckObservation,
  Task
} from './events';
import type { ILimitUse } from './limits';
import { isRecord } from './records';

/**
 * An event of the log. The stream has given it an id.
 */
export type LogEvent = Event & { id: number };

/**
 * An event of a type that this version of the panel does not know.
 */
export interface IUnknownEvent {
  type: 'unknown';
  id: number;
  /** The type that the server named. */
  name: string;
  raw: Readonly<Record<string, unknown>>;
}

export type AnyEvent = LogEvent | IUnknownEvent;

export type AgentState =
  | 'loading'
  | 'running'
  | 'awaiting_user_input'
  | 'awaiting_user_confirmation'
  | 'rate_limited'
  | 'paused'
  | 'stopped'
  | 'finished'
  | 'rejected'
  | 'error';

export type Mode = 'ask' | 'agent' | 'auto';

/**
 * The agent of sessions for which no other was chosen.
 */
export const DEFAULT_AGENT = 'codeact';

/**
 * What a session's sandbox may reach now.
 */
export interface INetworkInfo {
  /** All of it, such as `pypi.org` or `example.org:8080`. */
  places: readonly string[];
  /** What of it the person allowed in this session. */
  allowed: readonly Pick<NetworkAccessAction, 'host' | 'port' | 'access'>[];
  /** Whether the person may add nothing. */
  fixed: boolean;
}

/**
 * What the server says of a session.
 */
export interface ISessionInfo {
  id: string;
  title: string;
  created: string;
  updated: string;
  state: AgentState;
  mode: Mode;
  model: string;
  /** Name of the agent that works in it. */
  agent: string;
  /** Names of those that work for it, and for each other; the last one acts. */
  delegates: readonly string[];
  workspace: string;
  steps: number;
  step_limit: number;
  /** What is used of each limit, as the server said last. */
  limits: readonly ILimitUse[];
  /** The loop that the agent was stopped in; null where it was not. */
  stuck: StuckObservation | null;
  last_id: number;
  isolation: IsolationObservation | null;
  /** Id of the action that waits for the person's decision. */
  pending: number | null;
  /** Whether a command was left running in the shell. */
  command_running: boolean;
  /** Whether cells run in a notebook's own kernel that the agent has begun with. */
  cells_running: boolean;
  plan: Task[];
  /** Names of the secrets that the person allowed into the sandbox. */
  secrets: readonly string[];
  /** Null where there is no network that could be guarded. */
  network: INetworkInfo | null;
  /** Id of its kernel among those of the Jupyter server; null while there is none. */
  kernel: string | null;
  /** Whether the sandbox was released; the next action starts another. */
  asleep: boolean;
}

export type LiveKind = 'text' | 'reasoning' | 'tool_call' | 'output';

/**
 * A piece of a text that is still being written.
 */
export interface ILiveItem {
  kind: LiveKind;
  cause: number;
  /** Where `text` begins in the whole, in characters (code points). */
  offset: number;
  text: string;
  /** Whether the text is complete or given up. */
  end: boolean;
}

/**
 * A message of the server, as documented in docs/architecture.md.
 */
export type Frame =
  | { type: 'hello'; session: ISessionInfo; lastId: number }
  | { type: 'events'; events: AnyEvent[] }
  | { type: 'live'; items: ILiveItem[] }
  | { type: 'session'; session: ISessionInfo }
  | { type: 'heartbeat'; lastId: number };

const KNOWN_TYPES: Record<Event['type'], true> = {
  UserMessageAction: true,
  AgentMessageAction: true,
  AgentDelegateAction: true,
  AgentDelegateObservation: true,
  PlanHandOverAction: true,
  PlanHandOverObservation: true,
  AgentThinkAction: true,
  SystemMessageAction: true,
  IPythonRunCellAction: true,
  BrowseInteractiveAction: true,
  BrowseURLAction: true,
  CmdRunAction: true,
  FileReadAction: true,
  FileWriteAction: true,
  FileEditAction: true,
  FileGlobAction: true,
  FileGrepAction: true,
  TaskTrackingAction: true,
  FinishAction: true,
  RejectAction: true,
  InvalidToolCallAction: true,
  CondensationAction: true,
  QuarantineAction: true,
  ConfirmationAction: true,
  UndoAction: true,
  DryRunAction: true,
  RewindAction: true,
  ChangeAgentStateAction: true,
  ChangeSettingsAction: true,
  NetworkAccessAction: true,
  KernelCodeAction: true,
  KernelControlAction: true,
  KernelCopyAction: true,
  KernelInspectAction: true,
  KernelLookAction: true,
  MCPAction: true,
  NotebookCreateAction: true,
  NotebookEditAction: true,
  NotebookListAction: true,
  NotebookOutlineAction: true,
  NotebookOutputAction: true,
  NotebookReadAction: true,
  NotebookRunAction: true,
  AwaitRunAction: true,
  StopRunAction: true,
  NotebookSaveAction: true,
  NotebookSearchAction: true,
  NotebookUndoAction: true,
  BrowserOutputObservation: true,
  CmdOutputObservation: true,
  IPythonOutputObservation: true,
  FileReadObservation: true,
  FileWriteObservation: true,
  FileEditObservation: true,
  FileGlobObservation: true,
  FileGrepObservation: true,
  UserRejectObservation: true,
  KernelCodeObservation: true,
  KernelCopyObservation: true,
  KernelObservation: true,
  MCPObservation: true,
  NotebookEditObservation: true,
  NotebookObservation: true,
  NotebookRunObservation: true,
  ErrorObservation: true,
  AgentStateChangedObservation: true,
  ModelNoticeObservation: true,
  ModelUsageObservation: true,
  CheckpointObservation: true,
  NoCheckpointObservation: true,
  FilesRestoredObservation: true,
  ReplayObservation: true,
  IsolationObservation: true,
  SandboxReleasedObservation: true,
  NetworkRefusedObservation: true,
  LimitWarningObservation: true,
  StuckObservation: true,
  HookObservation: true,
  SkillObservation: true,
  SkillsObservation: true,
  UseSkillAction: true
};

const LIVE_KINDS: readonly string[] = [
  'text',
  'reasoning',
  'tool_call',
  'output'
];

/**
 * Read one frame of the socket.
 *
 * @returns The frame, or null for a kind that this version does not know.
 *
 * @throws If the text is not a frame at all.
 */
export function parseFrame(text: unknown): Frame | null {
  const frame: unknown = typeof text === 'string' ? JSON.parse(text) : text;
  if (!isRecord(frame) || typeof frame.type !== 'string') {
    throw new Error('The server sent something that is not a frame.');
  }
  switch (frame.type) {
    case 'hello':
      return {
        type: 'hello',
        session: parseSession(frame.session),
        lastId: integer(frame.last_id)
      };
    case 'events':
      return { type: 'events', events: parseEvents(frame.events) };
    case 'live':
      return {
        type: 'live',
        // A kind that this version does not know is no reason to break off.
        items: list(frame.items).flatMap(item => parseLiveItem(item) ?? [])
      };
    case 'session':
      return { type: 'session', session: parseSession(frame.session) };
    case 'heartbeat':
      return { type: 'heartbeat', lastId: integer(frame.last_id) };
    default:
      return null;
  }
}

/**
 * Read a list of events.
 */
export function parseEvents(value: unknown): AnyEvent[] {
  return list(value).map(parseEvent);
}

/**
 * Read one event; an unknown type is kept as it came.
 */
export function parseEvent(value: unknown): AnyEvent {
  if (!isRecord(value) || typeof value.type !== 'string') {
    throw new Error('The server sent something that is not an event.');
  }
  const id = integer(value.id);
  if (Object.hasOwn(KNOWN_TYPES, value.type)) {
    return { ...value, id } as LogEvent;
  }
  return { type: 'unknown', id, name: value.type, raw: value };
}

/**
 * Read what the server says of a session.
 */
export function parseSession(value: unknown): ISessionInfo {
  if (!isRecord(value) || typeof value.id !== 'string') {
    throw new Error('The server sent something that is not a session.');
  }
  const missing = {
    agent: DEFAULT_AGENT,
    delegates: [],
    plan: [],
    limits: [],
    stuck: null,
    secrets: [],
    isolation: null,
    pending: null,
    command_running: false,
    cells_running: false,
    network: null,
    kernel: null,
    asleep: false
  };
  return { ...missing, ...value } as unknown as ISessionInfo;
}

function parseLiveItem(value: unknown): ILiveItem | null {
  if (!isRecord(value)) {
    throw new Error('The server sent something that is not live text.');
  }
  if (!LIVE_KINDS.includes(value.kind as string)) {
    return null;
  }
  return {
    kind: value.kind as LiveKind,
    cause: integer(value.cause),
    offset: typeof value.offset === 'number' ? value.offset : 0,
    text: typeof value.text === 'string' ? value.text : '',
    end: value.end === true
  };
}

function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) {
    throw new Error('The server sent no list where one was expected.');
  }
  return value;
}

function integer(value: unknown): number {
  if (!Number.isInteger(value)) {
    throw new Error('The server sent no number where one was expected.');
  }
  return value as number;
}
