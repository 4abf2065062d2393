import type { ICellChoice } from './cellchoice';
import { ApiError } from './client';
import type { ApiClient } from './client';
import type { AnyEvent, Frame, ILiveItem, ISessionInfo } from './frames';
import { SessionState } from './info';
import { LiveTexts } from './live';
import { Observable } from './observable';
import { SessionSocket } from './socket';
import type { Connection } from './socket';
import { Timeline } from './timeline';
import type { IActionItem, TimelineItem } from './items';

/**
 * Events fetched at once when a session opens or a person scrolls up.
 */
const PAGE = 200;

/**
 * Milliseconds after which the event that holds a live text should have come, if there is one.
 */
const EVENT_GRACE = 500;

/**
 * One session as the panel shows it, kept current over the socket.
 */
export class SessionModel extends Observable {
  constructor(
    private readonly _client: ApiClient,
    info: ISessionInfo,
    /** Called when the server no longer knows the session, or refuses it. */
    private readonly _onLost: (error: ApiError) => void
  ) {
    super();
    this._state = new SessionState(info);
  }

  readonly timeline = new Timeline();
  readonly live = new LiveTexts();

  /**
   * What the person has chosen of edits of notebooks, by id of the action.
   */
  readonly cellChoices = new Map<number, ICellChoice>();

  get id(): string {
    return this.info.id;
  }

  get info(): ISessionInfo {
    return this._state.info;
  }

  get connection(): Connection {
    return this._connection;
  }

  /**
   * Whether the newest events were read.
   */
  get loaded(): boolean {
    return this._loaded;
  }

  /**
   * When the last news came, in milliseconds.
   */
  get newsAt(): number {
    return this._newsAt;
  }

  /**
   * Whether the agent is at work.
   */
  get busy(): boolean {
    return ['running', 'rate_limited', 'awaiting_user_confirmation'].includes(
      this.info.state
    );
  }

  /**
   * Whether there is something to stop: the agent, or what it left running.
   */
  get stoppable(): boolean {
    const { command_running, cells_running, delegates } = this.info;
    return (
      this.busy || command_running || cells_running || delegates.length > 0
    );
  }

  /**
   * Whether what a delegate does is folded away: by default, when it has ended.
   */
  isFolded(delegate: number): boolean {
    const ended = this.timeline.delegate(delegate)?.result;
    return this._folds.get(delegate) ?? Boolean(ended);
  }

  readonly toggleFold = (delegate: number): void => {
    this._folds.set(delegate, !this.isFolded(delegate));
    this.changed();
  };

  /**
   * Whether an item is not to be seen, because what it belongs to is folded away.
   */
  isHidden(item: TimelineItem): boolean {
    return item.path.some(delegate => this.isFolded(delegate));
  }

  /**
   * The action that waits for the person's decision; null if none does.
   */
  get pending(): IActionItem | null {
    if (this.info.state !== 'awaiting_user_confirmation') {
      return null;
    }
    const said = this.timeline.action(this.info.pending ?? -1);
    return said && said.decision === null && said.result === null
      ? said
      : this.timeline.firstOpen;
  }

  /**
   * Read the newest events and connect.
   */
  async open(): Promise<void> {
    const events = await this._client.eventsBefore(this.id, undefined, PAGE);
    if (this._closed) {
      return;
    }
    this.timeline.append(events);
    events.forEach(event => this._state.apply(event));
    this._hasOlder = this.timeline.firstId > 0;
    this._loaded = true;
    this._connect();
    this.changed();
  }

  /**
   * Read the page of events before the oldest, if there is one and it is not being read already.
   */
  async loadOlder(): Promise<void> {
    if (!this._hasOlder) {
      return;
    }
    this._hasOlder = false;
    try {
      const before = this.timeline.firstId;
      const events = await this._client.eventsBefore(this.id, before, PAGE);
      this.timeline.prepend(events);
    } finally {
      this._hasOlder = this.timeline.firstId > 0;
      this.changed();
    }
  }

  /**
   * Read older events until one of them is there, and unfold what it belongs to.
   */
  async reveal(event: number): Promise<void> {
    let before = Infinity;
    while (event < this.timeline.firstId && this.timeline.firstId < before) {
      before = this.timeline.firstId;
      await this.loadOlder();
    }
    const item = this.timeline.items.find(({ id }) => id === event);
    item?.path.forEach(delegate => this._folds.set(delegate, false));
    this.changed();
  }

  /**
   * Read the session's state anew, such as after a decision that came too late.
   */
  async refresh(): Promise<void> {
    this._state.setAnswered(await this._client.session(this.id));
    this.changed();
  }

  /**
   * Whether files of the workspace may have changed since this was asked last.
   */
  takeFilesChanged(): boolean {
    const changed = this._filesChanged;
    this._filesChanged = false;
    return changed;
  }

  /**
   * Connect at once if the connection is broken.
   */
  wake(): void {
    this._socket?.wake();
  }

  close(): void {
    this._closed = true;
    this._socket?.close();
    this.dispose();
  }

  private _connect(): void {
    this._socket = new SessionSocket(
      this._client,
      this.id,
      this.timeline.lastId,
      {
        onFrame: frame => this._take(frame),
        onConnection: connection => {
          this._connection = connection;
          this.changed();
        },
        onShorter: () => void this._readAnew(),
        onRefused: () => this._askWhy()
      }
    );
    this._socket.open();
  }

  private _take(frame: Frame): void {
    switch (frame.type) {
      case 'hello':
        // The server sends all live text anew.
        this.live.clear();
        this._state.set(frame.session);
        break;
      case 'session':
        this._state.set(frame.session);
        break;
      case 'events':
        this.timeline.append(frame.events);
        frame.events.forEach(event => this._state.apply(event));
        this.live.dropEnded();
        this._filesChanged ||= frame.events.some(changesFiles);
        break;
      case 'live':
        this.live.apply(frame.items);
        if (frame.items.some(item => item.end && this._holds(item))) {
          this.live.dropEnded();
        }
        if (frame.items.some(item => item.end)) {
          setTimeout(() => this._dropEndedText(), EVENT_GRACE);
        }
        break;
      case 'heartbeat':
        return;
    }
    this._newsAt = Date.now();
    this.changed();
  }

  /**
   * Forget what is shown and read it again: the server lost the end of the log, such as with a
   * power failure, and uses its ids anew.
   */
  private async _readAnew(): Promise<void> {
    this.timeline.clear();
    this.live.clear();
    if (await this._askWhy()) {
      await this.open();
    }
  }

  /**
   * Whether the event that holds a text whole has come before the text's end.
   */
  private _holds({ kind, cause }: ILiveItem): boolean {
    return this.timeline
      .since(cause)
      .some(
        event =>
          event.type !== 'unknown' &&
          (kind === 'output' ? event.cause === cause : event.source === 'agent')
      );
  }

  private _dropEndedText(): void {
    if (this.live.dropEnded()) {
      this.changed();
    }
  }

  private async _askWhy(): Promise<boolean> {
    try {
      await this.refresh();
      return true;
    } catch (error) {
      if (error instanceof ApiError && [401, 403, 404].includes(error.status)) {
        this._onLost(error);
        return error.status !== 404;
      }
      return true;
    }
  }

  private readonly _folds = new Map<number, boolean>();
  private readonly _state: SessionState;
  private _socket: SessionSocket | null = null;
  private _connection: Connection = 'connecting';
  private _newsAt = Date.now();
  private _filesChanged = false;
  private _hasOlder = false;
  private _loaded = false;
  private _closed = false;
}

function changesFiles(event: AnyEvent): boolean {
  return [
    'CmdOutputObservation',
    'FileEditObservation',
    'FileWriteObservation',
    'FilesRestoredObservation',
    'IPythonOutputObservation',
    'KernelCodeObservation',
    'MCPObservation',
    'NotebookEditObservation',
    'NotebookRunObservation'
  ].includes(event.type);
}
