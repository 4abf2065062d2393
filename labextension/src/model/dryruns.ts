import type { NotebookEditAction, NotebookRunAction } from './events';
import { wantedCells } from './cellchoice';
import type { ICellChoice } from './cellchoice';
import type { ISessionInfo } from './frames';
import type { RunnableAction } from './items';

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
      return changesCode(action, choice);
    case 'NotebookRunAction':
      return runsPython(action);
    default:
      return false;
  }
}

function changesCode(
  { cells = [] }: NotebookEditAction,
  choice: ICellChoice
): boolean {
  return wantedCells(cells, choice).some(({ id, cell_type, before, after }) => {
    const source = choice.sources.get(id) ?? after;
    return (
      cell_type === 'code' &&
      typeof source === 'string' &&
      source !== before &&
      source.trim() !== ''
    );
  });
}

function runsPython({ kernel = 'user', found }: NotebookRunAction): boolean {
  return kernel === 'user' && (!found || found.language === 'python');
}
