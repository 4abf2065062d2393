import type { NotebookEditAction, NotebookRunAction } from './events';
import { wantedCells } from './cellchoice';
import type { ICellChoice } from './cellchoice';
import type { ISessionInfo } from './frames';
import type { IActionItem, RunnableAction } from './items';

/**
 * Whether what waits for approval has code that can be tried in the session's sandbox.
 */
export function canBeTried(
  action: RunnableAction,
  choice: ICellChoice,
  { mode, isolation }: Pick<ISessionInfo, 'mode' | 'isolation'>
): boolean {
  // Ask mode runs no code.
  if (mode === 'ask' || isolation?.level === 'red') {
    return false;
  }
  switch (action.type) {
    case 'NotebookEditAction':
      return action.is_python !== false && changedCode(action, choice).size > 0;
    case 'NotebookRunAction':
      return runsPython(action);
    default:
      return false;
  }
}

/**
 * Whether what was tried is not what would be approved now, since the person has chosen otherwise.
 */
export function isOutdated(
  { action, dryRun }: Pick<IActionItem, 'action' | 'dryRun'>,
  choice: ICellChoice
): boolean {
  if (!dryRun || action.type !== 'NotebookEditAction') {
    return false;
  }
  const now = changedCode(action, choice);
  return (
    now.size !== dryRun.planned.length ||
    dryRun.planned.some(({ id, source }) => now.get(id) !== source)
  );
}

/**
 * The code that an edit changes or inserts, by id of the cell, as `session/dry_runs.py` has it.
 */
function changedCode(
  { cells = [] }: NotebookEditAction,
  choice: ICellChoice
): Map<string, string> {
  const changed = new Map<string, string>();
  for (const { id, cell_type, before, after } of wantedCells(cells, choice)) {
    const source = choice.sources.get(id) ?? after;
    if (
      cell_type === 'code' &&
      typeof source === 'string' &&
      source !== before &&
      source.trim() !== ''
    ) {
      changed.set(id, source);
    }
  }
  return changed;
}

function runsPython({ kernel = 'user', found }: NotebookRunAction): boolean {
  return kernel === 'user' && (!found || found.language === 'python');
}
