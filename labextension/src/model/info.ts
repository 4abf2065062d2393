import type { AnyEvent, ISessionInfo, LogEvent } from './frames';

/**
 * What is known of a session: what the server said last, and what the events since then change.
 *
 * The server speaks of a session at some events only; in between, the events tell.
 */
export class SessionState {
  constructor(private _info: ISessionInfo) {}

  get info(): ISessionInfo {
    return this._info;
  }

  /**
   * Take over what the server says.
   */
  set(info: ISessionInfo): void {
    this._info = info;
  }

  /**
   * Take over what the server answered, unless what came while the answer was on its way is newer.
   */
  setAnswered(info: ISessionInfo): void {
    if (info.last_id >= this._info.last_id) {
      this._info = info;
    }
  }

  /**
   * Fold in an event; one that the server's word already includes changes nothing.
   */
  apply(event: AnyEvent): void {
    const isStep = event.type !== 'unknown' && this._isStep(event);
    if (event.id <= this._info.last_id) {
      return;
    }
    const steps = this._info.steps + (isStep ? 1 : 0);
    this._info = {
      ...this._info,
      ...changeOf(event),
      steps,
      last_id: event.id
    };
  }

  /**
   * Whether an event is the first of an agent's step: all that comes of one model response is one.
   */
  private _isStep(event: LogEvent): boolean {
    if (event.source !== 'agent' || event.type === 'SystemMessageAction') {
      return false;
    }
    const response = ('llm' in event && event.llm?.response_id) || null;
    const isNew = response === null || response !== this._response;
    this._response = response;
    return isNew;
  }

  private _response: string | null = null;
}

function changeOf(event: AnyEvent): Partial<ISessionInfo> {
  switch (event.type) {
    case 'AgentStateChangedObservation':
      return {
        state: event.state,
        ...(event.state === 'stopped' && { command_running: false }),
        ...(event.state !== 'paused' && { stuck: null })
      };
    case 'StuckObservation':
      return event.stopped ? { stuck: event } : {};
    case 'TaskTrackingAction':
      return { plan: event.tasks };
    case 'IsolationObservation':
      return { isolation: event, asleep: false, command_running: false };
    case 'SandboxReleasedObservation':
      return { isolation: null, asleep: true, command_running: false };
    case 'CmdOutputObservation':
      return { command_running: event.running ?? false };
    default:
      return {};
  }
}
