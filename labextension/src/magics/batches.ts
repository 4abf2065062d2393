/**
 * A cell that is to be executed.
 */
export interface IScheduledCell {
  id: string;
  /** Whether its execution has not ended yet. */
  isRunning: () => boolean;
}

/**
 * Knows which cells were run by themselves, and which together with others, as 'Run All' does.
 */
export class Batches {
  /**
   * Note that a cell of a notebook is about to be executed.
   */
  schedule(notebook: object, cell: IScheduledCell): void {
    const queue = (this._queues.get(notebook) ?? []).filter(
      other => other.id !== cell.id && other.isRunning()
    );
    this._alone.set(cell.id, queue.length === 0);
    queue.forEach(other => this._alone.set(other.id, false));
    this._queues.set(notebook, [...queue, cell]);
  }

  /**
   * Whether a person ran this cell, and nothing else.
   */
  ranAlone(cell: string): boolean {
    return this._alone.get(cell) ?? false;
  }

  private readonly _alone = new Map<string, boolean>();
  private readonly _queues = new WeakMap<object, IScheduledCell[]>();
}
