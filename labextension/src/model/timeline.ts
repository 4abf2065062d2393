import type {
  AgentDelegateObservation,
  AgentStateChangedObservation,
  DryRunAction,
  ErrorObservation,
  NetworkAccessAction,
  NotebookRunObservation
} from './events';
import type { AnyEvent, LogEvent } from './frames';
import { Restores } from './restores';
import type {
  IActionItem,
  IDelegateItem,
  IRefusedItem,
  ITurnItem,
  IUserItem,
  TimelineItem
} from './items';
import { placeText } from './network';
import { UnkeptTurn } from './unkeptturn';

/**
 * States in which a message has to wait for the agent.
 */
const BUSY: readonly string[] = ['running', 'rate_limited'];

/**
 * States that a person has to be told about.
 */
const TOLD: readonly string[] = [
  'error',
  'paused',
  'rate_limited',
  'rejected',
  'stopped'
];

/**
 * What the model says to the person; what it says along with it belongs to that.
 */
const ADDRESSED: readonly string[] = ['AgentMessageAction', 'FinishAction'];

/**
 * The rows of a session: a fold over its events.
 *
 * `append` takes time in proportion to the new events only. An item that changes is replaced, so
 * that rows can be compared by identity.
 */
export class Timeline {
  /**
   * The rows, oldest first.
   */
  get items(): readonly TimelineItem[] {
    return this._items;
  }

  /**
   * Id of the oldest event taken in; -1 before the first.
   */
  get firstId(): number {
    return this._events[0]?.id ?? -1;
  }

  /**
   * Id of the newest event taken in; -1 before the first.
   */
  get lastId(): number {
    return this._events[this._events.length - 1]?.id ?? -1;
  }

  /**
   * The events taken in after one of them, oldest first.
   */
  since(id: number): readonly AnyEvent[] {
    // The ids are dense.
    return this._events.slice(Math.max(0, id + 1 - this.firstId));
  }

  /**
   * The action with an id, as far as it was taken in.
   */
  action(id: number): IActionItem | null {
    const index = this._actions.get(id);
    return index === undefined ? null : (this._items[index] as IActionItem);
  }

  /**
   * The row of a delegate's task with an id, as far as it was taken in.
   */
  delegate(id: number): IDelegateItem | null {
    const index = this._delegates.get(id);
    return index === undefined ? null : (this._items[index] as IDelegateItem);
  }

  /**
   * Id of the message of the agent's that nothing followed yet; -1 if there is none.
   */
  get lastMessage(): number {
    return this._lastMessage;
  }

  /**
   * The oldest action that has neither a decision nor a result; null if there is none.
   */
  get firstOpen(): IActionItem | null {
    for (const id of this._open) {
      return this.action(id);
    }
    return null;
  }

  /**
   * Whether the agent has asked the person something that nobody has answered.
   */
  get question(): boolean {
    return this._question;
  }

  /**
   * When the model is asked again, in milliseconds since 1970; null while nothing is waited for.
   */
  get retryAt(): number | null {
    return this._retryAt;
  }

  /**
   * Take in the events that follow the newest.
   */
  append(events: readonly AnyEvent[]): void {
    for (const event of events) {
      this._events.push(event);
      this._apply(event);
    }
  }

  /**
   * Take in the events before the oldest.
   */
  prepend(events: readonly AnyEvent[]): void {
    const all = [...events, ...this._events];
    this.clear();
    this.append(all);
  }

  /**
   * Forget everything.
   */
  clear(): void {
    this._events = [];
    this._items = [];
    this._actions.clear();
    this._delegates.clear();
    this._lastMessage = -1;
    this._open.clear();
    this._queued = [];
    this._refused = [];
    this._tried.clear();
    this._restores.clear();
    this._unkept.clear();
    this._question = false;
    this._busy = false;
    this._retryAt = null;
  }

  private _apply(event: AnyEvent): void {
    if (event.type === 'unknown') {
      this._items.push({
        kind: 'unknown',
        id: event.id,
        time: null,
        path: [],
        event
      });
      return;
    }
    this._applyToRestores(event);
    const item = this._item(event);
    if (event.source === 'agent' || event.source === 'user') {
      this._lastMessage = item?.kind === 'message' ? event.id : -1;
    }
    if (event.source === 'agent') {
      this._takeUp(event.cause ?? -1);
      this._addReasoning(event);
      this._addThought(event);
    }
    if (item) {
      if (item.kind === 'action') {
        this._actions.set(item.id, this._items.length);
        this._open.add(item.id);
      }
      if (item.kind === 'delegate') {
        this._delegates.set(item.id, this._items.length);
      }
      if (item.kind === 'turn' || item.kind === 'restore') {
        this._restores.add(item, this._items.length);
      }
      if (item.kind === 'refused') {
        this._refused.push(this._items.length);
      }
      if (item.kind === 'user' && item.queued) {
        this._queued.push(this._items.length);
      }
      this._items.push(item);
    }
    this._addUnkeptTurn(event);
  }

  /**
   * Put the end of a turn that no checkpoint tells.
   */
  private _addUnkeptTurn(event: LogEvent): void {
    const edited = this._unkept.take(event);
    if (edited) {
      const item: ITurnItem = {
        kind: 'turn',
        // Half a step after the row of the state, to keep keys unique and ordered.
        id: event.id + 0.5,
        time: event.time ?? null,
        path: [],
        ...edited,
        before: '',
        after: '',
        changed: 0,
        undone: false
      };
      this._restores.add(item, this._items.length);
      this._items.push(item);
    }
  }

  /**
   * The new row that an event makes; null if it makes none.
   */
  private _item(event: LogEvent): TimelineItem | null {
    const path = event.agent_path ?? [];
    const base = { id: event.id, time: event.time ?? null, path };
    switch (event.type) {
      case 'UserMessageAction':
        this._question = false;
        return {
          ...base,
          kind: 'user',
          content: event.content,
          context: event.context ?? [],
          queued: this._busy
        };
      case 'AgentMessageAction':
        // A plain answer waits too; a question is asked by a tool.
        this._question = Boolean(
          event.wait_for_response && event.llm?.tool_call_id
        );
        return { ...base, kind: 'message', action: event };
      case 'AwaitRunAction':
      case 'BrowseInteractiveAction':
      case 'BrowseURLAction':
      case 'CmdRunAction':
      case 'FileEditAction':
      case 'FileGlobAction':
      case 'FileGrepAction':
      case 'FileReadAction':
      case 'FileWriteAction':
      case 'IPythonRunCellAction':
      case 'KernelCodeAction':
      case 'KernelControlAction':
      case 'KernelCopyAction':
      case 'KernelInspectAction':
      case 'KernelLookAction':
      case 'MCPAction':
      case 'NotebookCreateAction':
      case 'NotebookEditAction':
      case 'NotebookListAction':
      case 'NotebookOutlineAction':
      case 'NotebookOutputAction':
      case 'NotebookReadAction':
      case 'NotebookRunAction':
      case 'NotebookSaveAction':
      case 'NotebookSearchAction':
      case 'NotebookUndoAction':
      case 'PlanHandOverAction':
      case 'StopRunAction':
        return {
          ...base,
          kind: 'action',
          action: event,
          decision: null,
          result: null,
          dryRun: null
        };
      case 'AgentDelegateAction':
        return { ...base, kind: 'delegate', action: event, result: null };
      case 'AgentDelegateObservation':
        this._endDelegate(event);
        return null;
      case 'TaskTrackingAction':
        return { ...base, kind: 'plan', tasks: event.tasks };
      case 'FinishAction':
        // What a delegate ends with stands in the row of its task.
        return path.length > 0
          ? null
          : { ...base, kind: 'finish', message: event.message ?? '' };
      case 'RejectAction':
        return {
          ...base,
          kind: 'error',
          code: 'rejected',
          message: event.message,
          hint: ''
        };
      case 'InvalidToolCallAction':
        return { ...base, kind: 'invalid_call', message: event.message };
      case 'CondensationAction':
        return { ...base, kind: 'condensation', condensation: event };
      case 'QuarantineAction':
        return { ...base, kind: 'quarantine', quarantine: event };
      case 'ChangeSettingsAction':
        // What a session starts with is no change.
        return this._items.length > 0
          ? { ...base, kind: 'settings', change: event }
          : null;
      case 'DryRunAction':
        this._try(event);
        return null;
      case 'ConfirmationAction':
        this._update(event.cause, { decision: event });
        return null;
      case 'BrowserOutputObservation':
      case 'CmdOutputObservation':
      case 'FileEditObservation':
      case 'FileGlobObservation':
      case 'FileGrepObservation':
      case 'FileReadObservation':
      case 'FileWriteObservation':
      case 'IPythonOutputObservation':
      case 'KernelCodeObservation':
      case 'KernelCopyObservation':
      case 'KernelObservation':
      case 'MCPObservation':
      case 'NotebookEditObservation':
      case 'NotebookObservation':
      case 'PlanHandOverObservation':
      case 'UserRejectObservation':
        this._update(event.cause, { result: event });
        return null;
      case 'NotebookRunObservation':
        if (!this._answerDryRun(event)) {
          this._update(event.cause, { result: event });
        }
        return null;
      case 'ErrorObservation':
        if (this._answerDryRun(event)) {
          return null;
        }
        if (this._restores.isOpen(this._items, event.cause)) {
          this._restores.answer(this._items, event);
          return null;
        }
        if (this._endDelegate(event)) {
          return null;
        }
        if (this._isOpen(event.cause)) {
          this._update(event.cause, { result: event });
          return null;
        }
        return {
          ...base,
          kind: 'error',
          code: event.code,
          message: event.message,
          hint: event.hint ?? ''
        };
      case 'AgentStateChangedObservation':
        this._busy = BUSY.includes(event.state);
        this._retryAt = retryAt(event);
        if (!this._busy && event.state !== 'awaiting_user_confirmation') {
          this._takeUp(event.id);
        }
        return TOLD.includes(event.state) || event.code
          ? { ...base, kind: 'state', change: event }
          : null;
      case 'SandboxReleasedObservation':
        return { ...base, kind: 'released', reason: event.reason };
      case 'IsolationObservation':
        return { ...base, kind: 'isolation', isolation: event };
      case 'CheckpointObservation':
        return event.since && (event.changed || event.cells)
          ? {
              ...base,
              kind: 'turn',
              turn: event.action,
              before: event.since,
              after: event.checkpoint,
              changed: event.changed ?? 0,
              cells: event.cells ?? 0,
              undone: false
            }
          : null;
      case 'LimitWarningObservation':
        return { ...base, kind: 'limit', warning: event };
      case 'StuckObservation':
        return { ...base, kind: 'stuck', stuck: event };
      case 'HookObservation':
        return { ...base, kind: 'hook', hook: event };
      case 'SkillObservation':
        return { ...base, kind: 'skill', skill: event };
      case 'SkillsObservation':
        return { ...base, kind: 'skills', skills: event };
      case 'ModelNoticeObservation':
        return {
          ...base,
          kind: 'notice',
          message: event.message,
          hint: event.hint ?? ''
        };
      case 'NoCheckpointObservation':
        return {
          ...base,
          kind: 'no_checkpoint',
          message: event.message,
          hint: event.hint ?? ''
        };
      case 'RewindAction':
      case 'UndoAction':
        return {
          ...base,
          kind: 'restore',
          action: event,
          result: null,
          replayed: 0,
          replay: null,
          undone: false
        };
      case 'FilesRestoredObservation':
      case 'ReplayObservation':
        return null;
      case 'AgentThinkAction':
      case 'SystemMessageAction':
      case 'UseSkillAction':
      case 'ChangeAgentStateAction':
      case 'ModelUsageObservation':
        return null;
      case 'NetworkRefusedObservation':
        return { ...base, kind: 'refused', refused: event, answer: null };
      case 'NetworkAccessAction':
        return this._answerRefusals(event)
          ? null
          : { ...base, kind: 'access', place: event, access: event.access };
    }
  }

  /**
   * Keep the rows of undo and rewind current.
   */
  private _applyToRestores(event: LogEvent): void {
    switch (event.type) {
      case 'FilesRestoredObservation':
        this._restores.answer(this._items, event);
        break;
      case 'ReplayObservation':
        this._restores.endReplay(this._items, event);
        break;
      case 'IPythonRunCellAction':
        if (event.source === 'user') {
          this._restores.countCell(this._items, event.cause);
        }
        break;
    }
  }

  /**
   * Put what the model thought before its answer before all that came of that.
   */
  private _addReasoning(event: LogEvent): void {
    const text = ('llm' in event && event.llm?.reasoning?.trim()) || '';
    if (text) {
      this._items.push({
        kind: 'reasoning',
        // Before what it said, as below.
        id: event.id - 0.75,
        time: event.time ?? null,
        path: event.agent_path ?? [],
        text
      });
    }
  }

  /**
   * Put what the model said along with an action before the action.
   */
  private _addThought(event: LogEvent): void {
    const thought = 'thought' in event ? event.thought?.trim() : '';
    if (thought) {
      this._items.push({
        kind: 'thought',
        // Half a step before the action's own row, to keep keys unique and ordered.
        id: event.id - 0.5,
        time: event.time ?? null,
        path: event.agent_path ?? [],
        text: thought,
        addressed: ADDRESSED.includes(event.type)
      });
    }
  }

  /**
   * Keep what came of a delegate's task.
   *
   * @returns Whether it is the answer to one that is worked on.
   */
  private _endDelegate(
    result: AgentDelegateObservation | ErrorObservation
  ): boolean {
    const id = result.cause ?? -1;
    const item = this.delegate(id);
    if (item?.result !== null) {
      return false;
    }
    this._items[this._delegates.get(id)!] = { ...item, result };
    return true;
  }

  private _isOpen(cause: number | null | undefined): boolean {
    return this.action(cause ?? -1)?.result === null;
  }

  private _update(
    cause: number | null | undefined,
    change: Partial<Pick<IActionItem, 'decision' | 'result'>>
  ): void {
    this._open.delete(cause ?? -1);
    this._change(cause, change);
  }

  private _change(
    cause: number | null | undefined,
    change: Partial<Pick<IActionItem, 'decision' | 'dryRun' | 'result'>>
  ): void {
    const index = this._actions.get(cause ?? -1);
    if (index !== undefined) {
      this._items[index] = {
        ...(this._items[index] as IActionItem),
        ...change
      };
    }
  }

  /**
   * Keep with an action that it is tried; it goes on waiting.
   */
  private _try(action: DryRunAction & { id: number }): void {
    const { cause, id, planned = [] } = action;
    this._tried.set(id, cause ?? -1);
    this._change(cause, { dryRun: { id, planned, result: null } });
  }

  /**
   * Keep what came of that.
   *
   * @returns Whether it is the answer to that.
   */
  private _answerDryRun(
    result: ErrorObservation | NotebookRunObservation
  ): boolean {
    const id = result.cause ?? -1;
    const dryRun = this.action(this._tried.get(id) ?? -1)?.dryRun;
    if (dryRun?.id !== id) {
      return this._tried.has(id);
    }
    this._change(this._tried.get(id), { dryRun: { ...dryRun, result } });
    return true;
  }

  /**
   * Keep the person's answer with the refusals that it is an answer to.
   *
   * @returns Whether there are any.
   */
  private _answerRefusals(answer: NetworkAccessAction): boolean {
    const { access } = answer;
    if (access === 'revoked') {
      return false;
    }
    const before = this._refused.length;
    this._refused = this._refused.filter(index => {
      const item = this._items[index] as IRefusedItem;
      if (placeText(item.refused) !== placeText(answer)) {
        return true;
      }
      this._items[index] = { ...item, answer: access };
      return false;
    });
    return this._refused.length < before;
  }

  /**
   * The agent has seen everything up to an event: messages before it are no longer queued.
   */
  private _takeUp(seen: number): void {
    this._queued = this._queued.filter(index => {
      const item = this._items[index] as IUserItem;
      if (item.id > seen) {
        return true;
      }
      this._items[index] = { ...item, queued: false };
      return false;
    });
  }

  private _events: AnyEvent[] = [];
  private _items: TimelineItem[] = [];
  private _actions = new Map<number, number>();
  private readonly _delegates = new Map<number, number>();
  private _lastMessage = -1;
  private _open = new Set<number>();
  private _queued: number[] = [];
  private readonly _restores = new Restores();
  private readonly _unkept = new UnkeptTurn();
  /** Rows of refusals that nobody has answered. */
  private _refused: number[] = [];
  /** The actions that were tried, by the id of the attempt. */
  private readonly _tried = new Map<number, number>();
  private _question = false;
  private _busy = false;
  private _retryAt: number | null = null;
}

/**
 * When it goes on after a change of state by itself; null where somebody has to act.
 */
function retryAt(event: AgentStateChangedObservation): number | null {
  if (event.retry_in === null || event.retry_in === undefined) {
    return null;
  }
  // The server's clock may be ahead of ours.
  const began = Math.min(Date.parse(event.time ?? ''), Date.now());
  return began + event.retry_in * 1000;
}
