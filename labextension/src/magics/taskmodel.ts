import type { ApiClient } from '../model/client';
import type { AnyEvent } from '../model/frames';
import { Observable } from '../model/observable';
import type { PanelModel } from '../model/panel';
import type { SessionModel } from '../model/session';
import type { Conversations } from './conversations';
import type { ILine, ITaskErrand } from './errand';
import { hasEnded } from './payload';
import type { ITaskPayload } from './payload';
import { Turn } from './turn';
import type { Watches } from './watches';

/**
 * Why a task is not begun before the person says so.
 */
export type Question = 'answered' | 'auto' | 'queued';

/**
 * Why a task cannot be begun: its kernel is in a sandbox, or knows nothing of it.
 */
export type Refusal = 'sandboxed' | 'unknown';

/**
 * What tasks are done with.
 */
export interface ITaskServices {
  client: Pick<ApiClient, 'sendMessage' | 'setState'>;
  conversations: Pick<Conversations, 'sessionFor'>;
  watches: Pick<Watches, 'acquire' | 'release'>;
}

/**
 * The kernel that a task comes from, as far as this page has to do with it.
 */
export interface IOrigin {
  /** Whether the kernel is in a sandbox, from which nothing is taken. */
  isSandboxed: () => Promise<boolean>;
  /** Ask the kernel what the output stands for; null if it knows nothing of it. */
  openLine: () => Promise<ILine | null>;
  /** Whether the person ran this cell in this page, and nothing else. */
  ranAlone: () => boolean;
}

/**
 * A task as an output shows it: it is begun here, watched, and told of to its kernel.
 */
export class TaskModel extends Observable {
  constructor(
    private _payload: ITaskPayload,
    private readonly _services: ITaskServices
  ) {
    super();
  }

  get payload(): ITaskPayload {
    return this._payload;
  }

  /**
   * What the person is asked before the task is begun; null for nothing.
   */
  get question(): Question | null {
    return this._question;
  }

  /**
   * Why the task cannot be begun; null if it can, or was.
   */
  get refusal(): Refusal | null {
    return this._payload.state === 'waiting' ? this._refusal : null;
  }

  /**
   * The task as the kernel told of it; null if it did not.
   */
  get errand(): ITaskErrand | null {
    return this._errand;
  }

  /**
   * The session, once it is watched.
   */
  get panel(): PanelModel | null {
    return this._panel;
  }

  /**
   * Id of the event that ended it; null while it goes on, or where it is not known.
   */
  get end(): number | null {
    return this._turn?.end ?? null;
  }

  /**
   * What went wrong here; null for nothing.
   */
  get error(): unknown {
    return this._error;
  }

  /**
   * Ask the kernel, and go on from there; once.
   *
   * @param origin - Null if no kernel is to be asked.
   */
  async connect(origin: IOrigin | null): Promise<void> {
    if (this._connected) {
      return;
    }
    this._connected = true;
    const watching = hasEnded(this._payload.state) ? null : this.watch();
    const isSandboxed = (await origin?.isSandboxed()) ?? false;
    const line = isSandboxed ? null : ((await origin?.openLine()) ?? null);
    await watching;
    if (line?.errand.type === 'task') {
      await this._take(line, line.errand, origin?.ranAlone() ?? false);
    } else {
      this._refusal = isSandboxed ? 'sandboxed' : 'unknown';
      this.changed();
    }
  }

  /**
   * Begin the task.
   */
  async run(): Promise<void> {
    const errand = this._errand;
    if (!errand || this._beginning) {
      return;
    }
    this._beginning = true;
    this._question = null;
    this._error = null;
    this._turn = null;
    this._set({ state: 'loading', answer: '', reason: '' });
    try {
      const { conversations, client } = this._services;
      const session = await conversations.sessionFor(errand);
      const message = await client.sendMessage(session, errand.prompt);
      this._set({ state: 'running', session, message });
      await this.watch();
    } catch (error) {
      this._error = error;
      this._question = 'queued';
      this._set({ state: 'waiting' });
    } finally {
      this._beginning = false;
    }
  }

  async stop(): Promise<void> {
    const { session } = this._payload;
    if (session) {
      await this._services.client.setState(session, 'stop');
    }
  }

  /**
   * Watch the session, also to show again what was done.
   */
  async watch(): Promise<void> {
    const { session, message } = this._payload;
    if (session === null || message === null) {
      return;
    }
    if (this._watched !== session) {
      this._unwatch();
      this._watched = session;
      this._panel = await this._services.watches.acquire(session);
    }
    this._turn = new Turn(message);
    this._last = message;
    const current = this._panel?.current;
    if (!current) {
      this._error = this._panel?.error ?? null;
      this._set({ state: 'gone' });
      return;
    }
    await loadFrom(current, message);
    this._stopFollowing?.();
    this._stopFollowing = current.subscribe(() => this._follow(current));
    this._follow(current);
  }

  /**
   * Nothing shows it any more.
   */
  close(): void {
    this._unwatch();
    this.dispose();
  }

  private async _take(
    line: ILine,
    errand: ITaskErrand,
    ranAlone: boolean
  ): Promise<void> {
    this._line = line;
    this._errand = errand;
    if (errand.state === 'waiting' || errand.state === 'answered') {
      this._question = questionOf(errand, ranAlone);
      this.changed();
      if (this._question === null) {
        await this.run();
      }
      return;
    }
    // It was begun before, such as in this page before it was loaded anew.
    const { state, session, message } = errand;
    if (message !== this._payload.message) {
      this._set({ state, session, message });
      await this.watch();
    }
    if (message !== null) {
      this._set({}, this._panel?.current?.timeline.since(message));
    }
    this._hangUpAtTheEnd();
  }

  private _hangUpAtTheEnd(): void {
    if (this.end !== null) {
      this._line?.close();
      this._line = null;
    }
  }

  private _unwatch(): void {
    this._stopFollowing?.();
    this._stopFollowing = null;
    if (this._watched !== null) {
      this._services.watches.release(this._watched);
    }
    this._watched = null;
  }

  private _follow(session: SessionModel): void {
    const turn = this._turn;
    if (!turn) {
      return;
    }
    const events = session.timeline.since(this._last);
    const ended = turn.end !== null;
    events.forEach(event => turn.apply(event));
    this._last = events[events.length - 1]?.id ?? this._last;
    if (ended) {
      this.changed();
      return;
    }
    const answered = this._payload.state === 'answered';
    const { state, answer, reason } = turn;
    this._set(
      {
        // A turn ends with a state that is final; before, a state may be passed through.
        state: answered
          ? 'answered'
          : turn.end === null && hasEnded(state)
            ? 'running'
            : state,
        answer: answer || this._payload.answer,
        reason
      },
      events
    );
    this._hangUpAtTheEnd();
  }

  private _set(
    change: Partial<ITaskPayload>,
    events: readonly AnyEvent[] = []
  ): void {
    this._payload = { ...this._payload, ...change };
    const { state, session, message, answer, reason } = this._payload;
    this._line?.tell({
      state,
      session,
      message,
      answer,
      reason,
      events: events.map(event =>
        event.type === 'unknown' ? event.raw : event
      ) as never
    });
    this.changed();
  }

  private _beginning = false;
  private _connected = false;
  private _errand: ITaskErrand | null = null;
  private _error: unknown = null;
  private _last = -1;
  private _line: ILine | null = null;
  private _panel: PanelModel | null = null;
  private _question: Question | null = null;
  private _refusal: Refusal | null = null;
  private _stopFollowing: (() => void) | null = null;
  private _turn: Turn | null = null;
  private _watched: string | null = null;
}

/**
 * What a person is asked before a task is begun; null for nothing.
 */
function questionOf(errand: ITaskErrand, ranAlone: boolean): Question | null {
  if (errand.state === 'answered') {
    return 'answered';
  }
  if (errand.mode === 'auto') {
    return 'auto';
  }
  return ranAlone ? null : 'queued';
}

/**
 * Load older events until there is nothing missing behind a message.
 */
async function loadFrom(session: SessionModel, message: number): Promise<void> {
  let first = -1;
  while (
    session.timeline.firstId > message + 1 &&
    session.timeline.firstId !== first
  ) {
    first = session.timeline.firstId;
    await session.loadOlder();
  }
}
