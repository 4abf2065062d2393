import { URLExt } from '@jupyterlab/coreutils';
import type { ServerConnection } from '@jupyterlab/services';
import { UUID } from '@lumino/coreutils';
import { delayBefore } from '../model/backoff';

/**
 * What a `TabSocket` tells.
 */
export interface ITabListener {
  /** Connected, for the first time or again. */
  onOpen(): void;
  onMessage(data: unknown): void;
}

/**
 * The connection of this browser tab to the server: made anew whenever it breaks.
 */
export class TabSocket {
  constructor(
    private readonly _settings: Pick<
      ServerConnection.ISettings,
      'WebSocket' | 'appendToken' | 'token' | 'wsUrl'
    >,
    private readonly _listener: ITabListener
  ) {}

  /**
   * Connect, and stay connected until `close`.
   */
  open(): void {
    if (this._closed || this._socket) {
      return;
    }
    const socket = new this._settings.WebSocket(this._url());
    this._socket = socket;
    socket.onopen = () => {
      this._attempts = 0;
      this._listener.onOpen();
    };
    socket.onmessage = message => this._listener.onMessage(message.data);
    socket.onclose = () => {
      if (this._socket === socket) {
        this._socket = null;
        this._retry();
      }
    };
  }

  /**
   * Send frames; false if there is no connection now.
   */
  send(...frames: string[]): boolean {
    if (this._socket?.readyState !== OPEN) {
      return false;
    }
    frames.forEach(frame => this._socket?.send(frame));
    return true;
  }

  /**
   * Reconnect at once instead of waiting, such as when the network came back.
   */
  wake(): void {
    clearTimeout(this._timer);
    this.open();
  }

  close(): void {
    this._closed = true;
    clearTimeout(this._timer);
    const socket = this._socket;
    this._socket = null;
    socket?.close();
  }

  private _retry(): void {
    if (this._closed) {
      return;
    }
    this._timer = setTimeout(() => this.open(), delayBefore(this._attempts++));
  }

  private _url(): string {
    const { appendToken, token, wsUrl } = this._settings;
    const query: Record<string, string> = { tab: this._id };
    if (appendToken && token) {
      query.token = token;
    }
    return (
      URLExt.join(wsUrl, 'openhands/api/tabs') +
      URLExt.objectToQueryString(query)
    );
  }

  /**
   * What this tab calls itself: the same after a break, another after a reload.
   */
  private readonly _id = UUID.uuid4();
  private _attempts = 0;
  private _closed = false;
  private _socket: WebSocket | null = null;
  private _timer: ReturnType<typeof setTimeout> | undefined;
}

/**
 * `WebSocket.OPEN`, which the settings' own class may lack.
 */
const OPEN = 1;
