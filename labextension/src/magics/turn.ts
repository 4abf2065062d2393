import type { AnyEvent } from '../model/frames';
import { hasEnded } from './payload';

/**
 * States that end a turn also where the agent has not come to the message.
 */
const AT_ONCE: readonly string[] = ['error', 'paused', 'stopped'];

const NOT_WELL: readonly string[] = [...AT_ONCE, 'rejected'];

/**
 * The part of a session's log that answers one message: a fold over the events after it.
 */
export class Turn {
  constructor(
    /** Id of the message's event. */
    readonly message: number
  ) {}

  /** The agent's state. */
  state = 'running';

  /** What the agent said last to the person. */
  answer = '';

  /** Why the turn ended, where it did not end well. */
  reason = '';

  /** Id of the event that ended it; null while it goes on. */
  end: number | null = null;

  /**
   * Take in the next event of the log.
   */
  apply(event: AnyEvent): void {
    if (event.id <= this.message || this.end !== null) {
      return;
    }
    if (event.type === 'unknown') {
      return;
    }
    if (event.source === 'agent' && (event.cause ?? -1) >= this.message) {
      // What the agent does has the last event as its cause that it has seen.
      this._takenUp = true;
    }
    switch (event.type) {
      case 'AgentMessageAction':
        this.answer = event.content;
        break;
      case 'FinishAction':
      case 'RejectAction':
        this.answer = event.message || event.thought || '';
        break;
      case 'AgentStateChangedObservation':
        this.state = event.state;
        this.reason = NOT_WELL.includes(event.state)
          ? `${event.reason ?? ''} ${event.hint ?? ''}`.trim()
          : '';
        if (
          hasEnded(event.state) &&
          (this._takenUp || AT_ONCE.includes(event.state))
        ) {
          this.end = event.id;
        }
        break;
    }
  }

  private _takenUp = false;
}
