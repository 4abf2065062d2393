import type {
  ICellMismatch,
  IChange,
  IMismatch,
  ISetCell,
  Step
} from './change';
import type { IRevised } from './revisions';
import { cellRev, notebookRev } from './revisions';

/**
 * What a check has to know of a cell.
 */
export interface ICellText extends IRevised {
  id: string;
  rev(): string;
  /** The revision of its outputs; takes time where they are large. */
  outputsRev(): string;
}

/**
 * Find out whether a change fits to a notebook.
 *
 * @returns Null if it does, else each cell that is not as expected.
 */
export function findMismatch(
  cells: readonly ICellText[],
  change: IChange
): IMismatch | null {
  const check = new Check(cells);
  for (const step of change.steps) {
    check.follow(step);
  }
  const { nb_rev } = change;
  // The revision of the whole takes time where there are many cells.
  if (check.wrong.size === 0 && (nb_rev ?? null) === null) {
    return null;
  }
  const revision = notebookRev(cells);
  return check.wrong.size === 0 && nb_rev === revision
    ? null
    : {
        type: 'mismatch',
        cells: [...check.wrong.values()],
        nb_rev: revision
      };
}

/**
 * A cell as a step would leave it.
 */
function withText(cell: IRevised & { id: string }): Text {
  return { ...cell, rev: () => cellRev(cell) };
}

type Text = Omit<ICellText, 'outputsRev'>;

/**
 * The cells as the steps so far would leave them.
 */
class Check {
  constructor(cells: readonly ICellText[]) {
    this._before = new Map(cells.map(cell => [cell.id, cell]));
    this._cells = new Map<string, Text>(this._before);
  }

  readonly wrong = new Map<string, ICellMismatch>();

  follow(step: Step): void {
    switch (step.type) {
      case 'insert': {
        const { id, cell_type, source } = step.cell;
        if (this._cells.has(id)) {
          this._note(id, 'exists');
        } else if (this._isThere(step.after)) {
          this._cells.set(id, withText({ id, cell_type, source }));
        } else {
          this._notInserted.add(id);
        }
        break;
      }
      case 'delete':
        if (this._isAsExpected(step.id, step.rev)) {
          this._cells.delete(step.id);
        }
        break;
      case 'move':
        if (this._isThere(step.id)) {
          this._isThere(step.after);
        }
        break;
      case 'set':
        if (this._isAsExpected(step.id, step.rev) && this._hasOutputs(step)) {
          this._set(step);
        }
        break;
    }
  }

  private _set(step: ISetCell): void {
    const cell = this._cells.get(step.id)!;
    this._cells.set(
      step.id,
      withText({
        id: step.id,
        cell_type: step.cell_type ?? cell.cell_type,
        source: step.source ?? cell.source
      })
    );
  }

  private _isThere(id: string | null): boolean {
    if (id === null || this._cells.has(id)) {
      return true;
    }
    if (!this._notInserted.has(id)) {
      this._note(id, 'gone');
    }
    return false;
  }

  private _isAsExpected(id: string, rev: string): boolean {
    if (!this._isThere(id)) {
      return false;
    }
    if (this._cells.get(id)!.rev() === rev) {
      return true;
    }
    this._note(id, 'changed');
    return false;
  }

  private _hasOutputs({ id, outputs_rev }: ISetCell): boolean {
    if (
      (outputs_rev ?? null) === null ||
      this._before.get(id)?.outputsRev() === outputs_rev
    ) {
      return true;
    }
    this._note(id, 'outputs');
    return false;
  }

  /**
   * Keep the first that is said of a cell: what follows may follow from it.
   */
  private _note(id: string, reason: ICellMismatch['reason']): void {
    if (!this.wrong.has(id)) {
      const present = reason === 'gone' ? undefined : this._before.get(id);
      this.wrong.set(id, {
        id,
        reason,
        rev: present?.rev() ?? null,
        cell_type: present?.cell_type ?? null,
        source: present?.source ?? null
      });
    }
  }

  private readonly _before: ReadonlyMap<string, ICellText>;
  private readonly _cells: Map<string, Text>;
  private readonly _notInserted = new Set<string>();
}
