import type { CellDecision, CellEdit } from './events';

/**
 * What a person has chosen of an edit of a notebook, before they decide.
 */
export interface ICellChoice {
  /** Groups of cells that are not to be done. */
  refused: ReadonlySet<number>;
  /** The person's own sources, by id of the cell. */
  sources: ReadonlyMap<string, string>;
}

/**
 * The edit as the agent wants it.
 */
export const AS_IT_IS: ICellChoice = { refused: new Set(), sources: new Map() };

/**
 * The cells of an edit that are done together or not at all, in the order of the edit.
 */
export function groupsOf(cells: readonly CellEdit[]): CellEdit[][] {
  const groups = new Map<number, CellEdit[]>();
  for (const cell of cells) {
    const group = groups.get(groupOf(cell));
    if (group) {
      group.push(cell);
    } else {
      groups.set(groupOf(cell), [cell]);
    }
  }
  return [...groups.values()];
}

/**
 * The number of the group that a cell belongs to.
 */
export function groupOf(cell: CellEdit): number {
  return cell.group ?? 0;
}

/**
 * Choose whether a group is to be done.
 */
export function withGroup(
  choice: ICellChoice,
  group: number,
  wanted: boolean
): ICellChoice {
  const refused = new Set(choice.refused);
  if (wanted) {
    refused.delete(group);
  } else {
    refused.add(group);
  }
  return { ...choice, refused };
}

/**
 * Choose another source for a cell; the agent's own takes the choice back.
 */
export function withSource(
  choice: ICellChoice,
  cell: CellEdit,
  source: string
): ICellChoice {
  const sources = new Map(choice.sources);
  if (source === cell.after) {
    sources.delete(cell.id);
  } else {
    sources.set(cell.id, source);
  }
  return { ...choice, sources };
}

/**
 * Whether a person can give a cell another source than the agent did.
 */
export function isEditable(cell: CellEdit): boolean {
  return cell.what === 'inserted' || cell.what === 'changed';
}

/**
 * The cells that are to be done.
 */
export function wantedCells(
  cells: readonly CellEdit[],
  choice: ICellChoice
): CellEdit[] {
  return cells.filter(cell => !choice.refused.has(groupOf(cell)));
}

/**
 * What is sent along with an approval: the cells of which something else is decided.
 *
 * @returns Undefined where all is approved as it is.
 */
export function decisionsOf(
  cells: readonly CellEdit[],
  choice: ICellChoice
): CellDecision[] | undefined {
  const decisions = cells.flatMap((cell): CellDecision[] => {
    const { id } = cell;
    if (choice.refused.has(groupOf(cell))) {
      return [{ id, decision: 'reject' }];
    }
    const source = choice.sources.get(id);
    return source === undefined ? [] : [{ id, decision: 'approve', source }];
  });
  return decisions.length > 0 ? decisions : undefined;
}
