import type { LogEvent } from './frames';

/**
 * States in which a turn goes on.
 */
const GOES_ON: readonly string[] = [
  'running',
  'rate_limited',
  'awaiting_user_confirmation'
];

/**
 * What a turn did to notebooks: what it is undone by, and the number of cells.
 */
export interface IEditedCells {
  turn: number;
  cells: number;
}

/**
 * Turns that edited notebooks where no files were kept, so that no checkpoint tells their end: a
 * part of the fold of a timeline, as `events/turns.py` has it.
 */
export class UnkeptTurn {
  /**
   * Take in an event.
   *
   * @returns What the turn that ends with it did; null where none ends, or another event tells it.
   */
  take(event: LogEvent): IEditedCells | null {
    switch (event.type) {
      case 'CheckpointObservation':
        this._kept = true;
        return null;
      case 'NotebookEditObservation':
        this._edit(event.cause ?? -1, event.cells?.length ?? 0);
        return null;
      case 'AgentStateChangedObservation':
        return this._enter(event.state);
      default:
        return null;
    }
  }

  /**
   * Forget everything.
   */
  clear(): void {
    this._edited = null;
    // Of a turn that began before the oldest event it is not known whether files were kept.
    this._kept = true;
    this._state = '';
  }

  private _edit(turn: number, cells: number): void {
    if (cells > 0) {
      const before = this._edited ?? { turn, cells: 0 };
      this._edited = { ...before, cells: before.cells + cells };
    }
  }

  private _enter(state: string): IEditedCells | null {
    const began = state === 'running' && !GOES_ON.includes(this._state);
    this._state = state;
    if (began) {
      this._edited = null;
      this._kept = false;
    }
    if (GOES_ON.includes(state) || this._kept) {
      return null;
    }
    const ended = this._edited;
    this._edited = null;
    return ended;
  }

  private _edited: IEditedCells | null = null;
  private _kept = true;
  private _state = '';
}
