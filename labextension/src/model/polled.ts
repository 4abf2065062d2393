import { Observable } from './observable';

/**
 * What the server does beside answering, such as a pull: asked for once, and looked at again
 * as long as it goes on.
 */
export abstract class Polled<T> extends Observable {
  /**
   * @param _interval - Milliseconds between two looks.
   */
  constructor(private readonly _interval: number) {
    super();
  }

  /**
   * What was found last; null before that.
   */
  get status(): T | null {
    return this._status;
  }

  /**
   * Whether an answer is awaited; not while it is only looked at again.
   */
  get busy(): boolean {
    return this._busy;
  }

  /**
   * What went wrong with the last request; null if nothing did.
   */
  get error(): unknown {
    return this._error;
  }

  /**
   * Look no more.
   */
  close(): void {
    this._turn++;
    clearTimeout(this._timer);
    this.dispose();
  }

  /**
   * Ask how it is.
   */
  protected abstract look(): Promise<T>;

  /**
   * Whether this is not the last answer.
   */
  protected abstract goesOn(status: T): boolean;

  /**
   * Have a request answered; the answer to an earlier one counts no more.
   */
  protected async ask(request: () => Promise<T>): Promise<void> {
    this._busy = true;
    this._error = null;
    this.changed();
    await this._await(request);
  }

  private async _await(request: () => Promise<T>): Promise<void> {
    const turn = ++this._turn;
    clearTimeout(this._timer);
    let status = this._status;
    let error: unknown = null;
    try {
      status = await request();
    } catch (problem) {
      error = problem;
    }
    if (turn !== this._turn) {
      return;
    }
    this._status = status;
    this._error = error;
    this._busy = false;
    this.changed();
    if (error === null && status !== null && this.goesOn(status)) {
      this._timer = setTimeout(
        () => void this._await(() => this.look()),
        this._interval
      );
    }
  }

  private _busy = false;
  private _error: unknown = null;
  private _status: T | null = null;
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _turn = 0;
}
