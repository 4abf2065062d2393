import { delayBefore } from './backoff';
import type { ApiClient } from './client';
import { parseFrame } from './frames';
import type { AnyEvent, Frame } from './frames';

/**
 * How the panel is connected to the server; not to be confused with the agent's state.
 */
export type Connection = 'connecting' | 'connected' | 'offline';

/**
 * The server sends a heartbeat every 20 s: after this silence the connection is dead.
 */
const SILENCE = 50_000;

/**
 * Code that the server closes the socket with when the session was deleted.
 */
const SESSION_GONE = 4404;

/**
 * What a `SessionSocket` tells.
 */
export interface ISocketListener {
  /** A frame; in one with events there is none that was told before, and none is missing. */
  onFrame(frame: Frame): void;
  onConnection(connection: Connection): void;
  /** The log is shorter than what is known of it: a part was lost, so read it anew. */
  onShorter(): void;
  /** No connection could be made: find out why. True to try again. */
  onRefused(): Promise<boolean>;
}

/**
 * A connection to one session that lasts: after a break it goes on behind the last event.
 */
export class SessionSocket {
  constructor(
    private readonly _client: Pick<ApiClient, 'openStream'>,
    private readonly _session: string,
    /** Id of the last event known; -1 for none. */
    private _lastId: number,
    private readonly _listener: ISocketListener
  ) {}

  /**
   * Connect, and stay connected until `close`.
   */
  open(): void {
    if (this._closed || this._socket) {
      return;
    }
    let opened = false;
    const socket = this._client.openStream(this._session, this._lastId);
    this._socket = socket;
    this._watch();
    socket.onopen = () => {
      opened = true;
      this._watch();
    };
    socket.onmessage = message => this._receive(message.data);
    socket.onclose = event => {
      if (this._socket === socket) {
        this._socket = null;
        void this._retry(opened && event.code !== SESSION_GONE);
      }
    };
  }

  /**
   * Reconnect at once instead of waiting, such as when the network came back.
   */
  wake(): void {
    if (!this._socket) {
      clearTimeout(this._timer);
      this.open();
    }
  }

  close(): void {
    this._closed = true;
    this._drop();
    clearTimeout(this._timer);
  }

  private _receive(data: unknown): void {
    if (this._closed) {
      return;
    }
    this._watch();
    const frame = parseFrame(data);
    if (frame?.type === 'hello' && frame.lastId < this._lastId) {
      this.close();
      this._listener.onShorter();
      return;
    }
    if (frame?.type === 'hello') {
      this._attempts = 0;
      this._listener.onConnection('connected');
    }
    if (frame?.type !== 'events') {
      if (frame) {
        this._listener.onFrame(frame);
      }
      return;
    }
    const { events, whole } = this._next(frame.events);
    if (events.length > 0) {
      this._lastId = events[events.length - 1].id;
      this._listener.onFrame({ type: 'events', events });
    }
    if (!whole) {
      this._drop();
      void this._retry(true);
    }
  }

  /**
   * The events that continue what is known; `whole` is false if there is a gap.
   */
  private _next(received: AnyEvent[]): { events: AnyEvent[]; whole: boolean } {
    const events: AnyEvent[] = [];
    let last = this._lastId;
    for (const event of received) {
      if (event.id > last + 1) {
        return { events, whole: false };
      }
      if (event.id === last + 1) {
        events.push(event);
        last = event.id;
      }
    }
    return { events, whole: true };
  }

  private async _retry(opened: boolean): Promise<void> {
    clearTimeout(this._timer);
    if (this._closed) {
      return;
    }
    this._listener.onConnection(opened ? 'connecting' : 'offline');
    if (!opened && !(await this._listener.onRefused())) {
      this.close();
    }
    if (this._closed || this._socket) {
      return;
    }
    this._timer = setTimeout(() => this.open(), delayBefore(this._attempts++));
  }

  private _watch(): void {
    clearTimeout(this._timer);
    this._timer = setTimeout(() => {
      this._drop();
      void this._retry(true);
    }, SILENCE);
  }

  private _drop(): void {
    const socket = this._socket;
    this._socket = null;
    socket?.close();
  }

  private _attempts = 0;
  private _closed = false;
  private _socket: WebSocket | null = null;
  private _timer: ReturnType<typeof setTimeout> | undefined;
}
