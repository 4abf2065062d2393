import type {
  FilesRestoredObservation,
  ErrorObservation,
  ReplayObservation
} from './events';
import type { IRestoreItem, ITurnItem, TimelineItem } from './items';

/**
 * The rows of a timeline that can be undone, and what was undone: a part of its fold.
 */
export class Restores {
  /**
   * Note a row that was put at an index.
   */
  add(item: IRestoreItem | ITurnItem, index: number): void {
    this._rows.set(item.kind === 'turn' ? item.turn : item.id, index);
  }

  /**
   * Forget everything.
   */
  clear(): void {
    this._rows.clear();
    this._undoneBy.clear();
  }

  /**
   * Whether an event is an undo or a rewind that is not answered yet.
   */
  isOpen(
    items: readonly TimelineItem[],
    id: number | null | undefined
  ): boolean {
    return this._restore(items, id)?.result === null;
  }

  /**
   * Take in the answer to an undo or a rewind.
   */
  answer(
    items: TimelineItem[],
    result: ErrorObservation | FilesRestoredObservation
  ): void {
    const item = this._restore(items, result.cause);
    if (!item) {
      return;
    }
    items[this._rows.get(item.id)!] = { ...item, result };
    if (result.type === 'FilesRestoredObservation') {
      const undone = this._undoneTurns(items, item);
      this._undoneBy.set(item.id, undone);
      for (const turn of undone) {
        this._mark(items, turn, true);
        // Who takes back an undo has again what it undid.
        this._undoneBy.get(turn)?.forEach(it => this._mark(items, it, false));
      }
    }
  }

  /**
   * Take in that a cell was run again.
   */
  countCell(items: TimelineItem[], cause: number | null | undefined): void {
    const item = this._restore(items, cause);
    if (item) {
      const replayed = item.replayed + 1;
      items[this._rows.get(item.id)!] = { ...item, replayed };
    }
  }

  /**
   * Take in that all cells were run again, or that this was given up.
   */
  endReplay(items: TimelineItem[], replay: ReplayObservation): void {
    const item = this._restore(items, replay.cause);
    if (item) {
      items[this._rows.get(item.id)!] = { ...item, replay };
    }
  }

  private _restore(
    items: readonly TimelineItem[],
    id: number | null | undefined
  ): IRestoreItem | null {
    const item = items[this._rows.get(id ?? -1) ?? -1];
    return item?.kind === 'restore' ? item : null;
  }

  private _undoneTurns(
    items: readonly TimelineItem[],
    { action }: IRestoreItem
  ): number[] {
    const turns =
      action.type === 'UndoAction'
        ? [action.turn]
        : [...this._rows.keys()].filter(
            id => id >= action.event && id < action.id
          );
    return turns.filter(id => {
      const item = items[this._rows.get(id) ?? -1];
      return (
        (item?.kind === 'turn' || item?.kind === 'restore') && !item.undone
      );
    });
  }

  private _mark(items: TimelineItem[], turn: number, undone: boolean): void {
    const index = this._rows.get(turn) ?? -1;
    const item = items[index];
    if (item?.kind === 'turn' || item?.kind === 'restore') {
      items[index] = { ...item, undone };
    }
  }

  private readonly _rows = new Map<number, number>();
  private readonly _undoneBy = new Map<number, number[]>();
}
