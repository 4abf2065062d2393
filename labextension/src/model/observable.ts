/**
 * Something that tells when it changed, at most once per animation frame.
 *
 * It fits React's `useSyncExternalStore`: the version is the snapshot.
 */
export class Observable {
  readonly subscribe = (listener: () => void): (() => void) => {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  };

  readonly getVersion = (): number => this._version;

  /**
   * Tell the listeners with the next animation frame.
   */
  protected changed(): void {
    this._frame ??= requestAnimationFrame(() => {
      this._frame = null;
      this._version++;
      this._listeners.forEach(listener => listener());
    });
  }

  protected dispose(): void {
    if (this._frame !== null) {
      cancelAnimationFrame(this._frame);
    }
    this._listeners.clear();
  }

  private _frame: number | null = null;
  private _listeners = new Set<() => void>();
  private _version = 0;
}
