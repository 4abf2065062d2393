import type {
  AgentDelegateAction,
  AgentDelegateObservation,
  AgentMessageAction,
  AgentStateChangedObservation,
  AwaitRunAction,
  BrowserOutputObservation,
  BrowseInteractiveAction,
  BrowseURLAction,
  CmdOutputObservation,
  CmdRunAction,
  CondensationAction,
  ConfirmationAction,
  ErrorObservation,
  FileEditAction,
  FileEditObservation,
  FileGlobAction,
  FileGlobObservation,
  FileGrepAction,
  FileGrepObservation,
  FileReadAction,
  FilesRestoredObservation,
  FileReadObservation,
  FileWriteAction,
  FileWriteObservation,
  IPythonOutputObservation,
  IPythonRunCellAction,
  IsolationObservation,
  KernelCodeAction,
  KernelCodeObservation,
  KernelControlAction,
  KernelCopyAction,
  KernelCopyObservation,
  MCPAction,
  MCPObservation,
  KernelInspectAction,
  KernelLookAction,
  KernelObservation,
  HookObservation,
  LimitWarningObservation,
  NetworkRefusedObservation,
  NotebookCreateAction,
  NotebookEditAction,
  NotebookEditObservation,
  NotebookListAction,
  NotebookObservation,
  NotebookOutlineAction,
  NotebookOutputAction,
  NotebookReadAction,
  NotebookRunAction,
  NotebookRunObservation,
  NotebookSaveAction,
  NotebookSearchAction,
  NotebookUndoAction,
  PlannedRun,
  ChangeSettingsAction,
  PlanHandOverAction,
  PlanHandOverObservation,
  ReplayObservation,
  QuarantineAction,
  RewindAction,
  StopRunAction,
  SkillObservation,
  SkillsObservation,
  StuckObservation,
  Task,
  UndoAction,
  UserRejectObservation
} from './events';
import type { ContextPart } from './context';
import type { IUnknownEvent } from './frames';
import type { Access, IPlace } from './network';

/**
 * What the agent does with a notebook.
 */
export type NotebookAction =
  | NotebookCreateAction
  | NotebookEditAction
  | NotebookListAction
  | NotebookOutlineAction
  | NotebookOutputAction
  | NotebookReadAction
  | NotebookSaveAction
  | NotebookSearchAction
  | NotebookUndoAction;

/**
 * What the agent does with kernels by means of the server.
 */
export type KernelAction =
  | KernelCodeAction
  | KernelControlAction
  | KernelCopyAction
  | KernelInspectAction
  | KernelLookAction;

/**
 * An action that is executed, so that one observation answers it.
 */
export type RunnableAction = (
  | AwaitRunAction
  | BrowseInteractiveAction
  | BrowseURLAction
  | CmdRunAction
  | FileEditAction
  | FileGlobAction
  | FileGrepAction
  | FileReadAction
  | FileWriteAction
  | IPythonRunCellAction
  | KernelAction
  | MCPAction
  | NotebookAction
  | NotebookRunAction
  | PlanHandOverAction
  | StopRunAction
) & { id: number };

/**
 * What answers a runnable action.
 */
export type Result =
  | BrowserOutputObservation
  | CmdOutputObservation
  | ErrorObservation
  | FileEditObservation
  | FileGlobObservation
  | FileGrepObservation
  | FileReadObservation
  | FileWriteObservation
  | IPythonOutputObservation
  | KernelCodeObservation
  | KernelCopyObservation
  | KernelObservation
  | MCPObservation
  | NotebookEditObservation
  | NotebookObservation
  | NotebookRunObservation
  | PlanHandOverObservation
  | UserRejectObservation;

interface IItemBase {
  /** Id of the event that the item begins with; also its key. */
  id: number;
  time: string | null;
  /** Ids of the delegates' rows that it belongs below, the outermost first. */
  path: readonly number[];
}

export interface IUserItem extends IItemBase {
  kind: 'user';
  content: string;
  /** What went with it of the person's notebooks. */
  context: ContextPart[];
  /** Whether the agent has not taken it up yet. */
  queued: boolean;
}

export interface IMessageItem extends IItemBase {
  kind: 'message';
  action: AgentMessageAction;
}

export interface IThoughtItem extends IItemBase {
  kind: 'thought';
  text: string;
  /** Whether it is meant for the person, because it comes with a question or an answer. */
  addressed: boolean;
}

export interface IReasoningItem extends IItemBase {
  kind: 'reasoning';
  text: string;
}

export interface IActionItem extends IItemBase {
  kind: 'action';
  action: RunnableAction;
  /** The person's decision, if one was asked for. */
  decision: ConfirmationAction | null;
  result: Result | null;
  /** The last time that the person tried it in the sandbox; null if they did not. */
  dryRun: IDryRun | null;
}

/**
 * What waited for approval, tried in the sandbox.
 */
export interface IDryRun {
  /** Id of the event that it begins with. */
  id: number;
  /** What was tried. */
  planned: readonly PlannedRun[];
  result: ErrorObservation | NotebookRunObservation | null;
}

/**
 * A task that another agent works on; the rows of what it does belong below it.
 */
export interface IDelegateItem extends IItemBase {
  kind: 'delegate';
  action: AgentDelegateAction;
  /** Null while it is at work. */
  result: AgentDelegateObservation | ErrorObservation | null;
}

export interface IPlanItem extends IItemBase {
  kind: 'plan';
  tasks: Task[];
}

export interface IFinishItem extends IItemBase {
  kind: 'finish';
  message: string;
}

export interface IErrorItem extends IItemBase {
  kind: 'error';
  code: string;
  message: string;
  hint: string;
}

export interface IStateItem extends IItemBase {
  kind: 'state';
  change: AgentStateChangedObservation;
}

export interface IIsolationItem extends IItemBase {
  kind: 'isolation';
  isolation: IsolationObservation;
}

export interface IReleasedItem extends IItemBase {
  kind: 'released';
  reason: string;
}

export interface ISettingsItem extends IItemBase {
  kind: 'settings';
  change: ChangeSettingsAction;
}

export interface IRefusedItem extends IItemBase {
  kind: 'refused';
  refused: NetworkRefusedObservation;
  /** What the person said to it; null if nothing. */
  answer: Exclude<Access, 'revoked'> | null;
}

export interface IAccessItem extends IItemBase {
  kind: 'access';
  place: IPlace;
  access: Access;
}

export interface IInvalidCallItem extends IItemBase {
  kind: 'invalid_call';
  message: string;
}

/**
 * The end of a turn that changed files, or cells of notebooks.
 */
export interface ITurnItem extends IItemBase {
  kind: 'turn';
  /** Id of the turn's first action that may have changed something: what it is undone by. */
  turn: number;
  /** Checkpoints before that action and at the turn's end. */
  before: string;
  after: string;
  /** How many files, and cells of notebooks. */
  changed: number;
  cells: number;
  /** Whether it was undone. */
  undone: boolean;
}

/**
 * An undo or a rewind, and what came of it.
 */
export interface IRestoreItem extends IItemBase {
  kind: 'restore';
  action: (RewindAction | UndoAction) & { id: number };
  result: ErrorObservation | FilesRestoredObservation | null;
  /** Cells that were run again so far. */
  replayed: number;
  replay: ReplayObservation | null;
  /** Whether it was undone itself. */
  undone: boolean;
}

export interface INoCheckpointItem extends IItemBase {
  kind: 'no_checkpoint';
  message: string;
  hint: string;
}

/**
 * From here on the model is shown less of what came before.
 */
export interface ICondensationItem extends IItemBase {
  kind: 'condensation';
  condensation: CondensationAction;
}

/**
 * From here on the model is not shown what its provider refused.
 */
export interface IQuarantineItem extends IItemBase {
  kind: 'quarantine';
  quarantine: QuarantineAction;
}

export interface ILimitItem extends IItemBase {
  kind: 'limit';
  warning: LimitWarningObservation;
}

export interface IStuckItem extends IItemBase {
  kind: 'stuck';
  stuck: StuckObservation;
}

/**
 * The agent was given the text of a skill, or of a file of instructions.
 */
export interface ISkillItem extends IItemBase {
  kind: 'skill';
  skill: SkillObservation;
}

/**
 * What a hook of the person's had to say.
 */
export interface IHookItem extends IItemBase {
  kind: 'hook';
  hook: HookObservation;
}

/**
 * Which skills the agent was told of.
 */
export interface ISkillsItem extends IItemBase {
  kind: 'skills';
  skills: SkillsObservation;
}

export interface INoticeItem extends IItemBase {
  kind: 'notice';
  message: string;
  hint: string;
}

export interface IUnknownItem extends IItemBase {
  kind: 'unknown';
  event: IUnknownEvent;
}

/**
 * One row of the timeline.
 */
export type TimelineItem =
  | IUserItem
  | IMessageItem
  | IThoughtItem
  | IReasoningItem
  | IActionItem
  | IDelegateItem
  | IPlanItem
  | IFinishItem
  | IErrorItem
  | IStateItem
  | IIsolationItem
  | IReleasedItem
  | ISettingsItem
  | IRefusedItem
  | IAccessItem
  | IInvalidCallItem
  | ITurnItem
  | IRestoreItem
  | INoCheckpointItem
  | ICondensationItem
  | IQuarantineItem
  | ILimitItem
  | IStuckItem
  | ISkillItem
  | IHookItem
  | ISkillsItem
  | INoticeItem
  | IUnknownItem;
