import type { TranslationBundle } from '@jupyterlab/translation';
import type {
  AwaitRunAction,
  CellResult,
  NameChanges,
  NotebookRunAction,
  NotebookRunObservation,
  StopRunAction,
  TouchedFiles,
  UserKernel
} from './events';
import { revealOnOneLine } from './inert';
import type { IActionText } from './texts';

/**
 * Name what the agent does with cells that are run.
 */
export function describeRunAction(
  trans: TranslationBundle,
  action: AwaitRunAction | NotebookRunAction | StopRunAction
): IActionText {
  switch (action.type) {
    case 'NotebookRunAction':
      return {
        verb: runVerb(trans, action),
        object: revealOnOneLine(action.path)
      };
    case 'AwaitRunAction':
      return { verb: trans.__('Wait for cells that run'), object: '' };
    case 'StopRunAction':
      return { verb: trans.__('Interrupt cells that run'), object: '' };
  }
}

function runVerb(
  trans: TranslationBundle,
  { kernel = 'user', planned = [] }: NotebookRunAction
): string {
  const number = planned.length;
  return kernel === 'user'
    ? trans._n(
        'Run 1 cell in your kernel:',
        'Run %1 cells in your kernel:',
        number
      )
    : trans._n(
        'Run 1 cell in the sandbox:',
        'Run %1 cells in the sandbox:',
        number
      );
}

/**
 * Say in which of the person's kernels cells are to be run, and what it does now.
 */
export function kernelText(
  trans: TranslationBundle,
  { id, name, state = '' }: UserKernel
): string {
  const named = revealOnOneLine(name);
  if (!id) {
    return trans.__('The notebook has no kernel yet: %1 is started.', named);
  }
  return state === 'busy'
    ? trans.__('Kernel %1 is busy: they wait for what it does.', named)
    : trans.__('Kernel %1 is %2.', named, revealOnOneLine(state));
}

/**
 * Say in a few words where a run is.
 */
export function runStateText(
  trans: TranslationBundle,
  { state, cells = [] }: NotebookRunObservation
): string {
  switch (state) {
    case 'queued':
      return trans.__('Waits for another run');
    case 'running':
      return cells.some(({ status }) => status === 'waiting')
        ? trans.__('Waits for the kernel')
        : trans.__('Still running');
    case 'awaiting_input':
      return trans.__('Asks for input');
    case 'done':
      return trans.__('Done');
    case 'error':
      return trans.__('Error');
    case 'changed':
      return trans.__('Not run: a cell was changed');
    case 'interrupted':
      return trans.__('Interrupted');
    case 'kernel_dead':
      return trans.__('The kernel died');
    case 'unknown':
      return trans.__('Nobody knows how it ended');
  }
}

/**
 * Say what came of a cell.
 */
export function cellResultText(
  trans: TranslationBundle,
  cell: CellResult
): string {
  const count =
    typeof cell.execution_count === 'number' ? `[${cell.execution_count}]` : '';
  const seconds =
    typeof cell.seconds === 'number' ? trans.__('%1 s', cell.seconds) : '';
  return [statusText(trans, cell.status), count, seconds]
    .filter(text => text)
    .join(' ');
}

/**
 * Say which names of the kernel a run has changed; empty where none is known to be.
 */
export function nameChangesText(
  trans: TranslationBundle,
  { new: made = [], ...others }: NameChanges
): string {
  const first = made.length && trans.__('new: %1', listed(made));
  return changesText(trans, first, others);
}

/**
 * Say which files changed while code ran; empty where none is known to have.
 */
export function touchedFilesText(
  trans: TranslationBundle,
  { created = [], ...others }: TouchedFiles
): string {
  const first = created.length && trans.__('created: %1', listed(created));
  return changesText(trans, first, others);
}

function changesText(
  trans: TranslationBundle,
  first: string | 0,
  {
    changed = [],
    deleted = [],
    left_out = 0
  }: Pick<NameChanges, 'changed' | 'deleted' | 'left_out'>
): string {
  return [
    first,
    changed.length && trans.__('changed: %1', listed(changed)),
    deleted.length && trans.__('deleted: %1', listed(deleted)),
    left_out && trans.__('and %1 more', left_out)
  ]
    .filter(text => text)
    .join('; ');
}

function listed(names: readonly string[]): string {
  return names.map(name => revealOnOneLine(name)).join(', ');
}

function statusText(
  trans: TranslationBundle,
  status: CellResult['status']
): string {
  switch (status) {
    case 'queued':
      return trans.__('queued');
    case 'waiting':
      return trans.__('waits for the kernel');
    case 'running':
      return trans.__('running');
    case 'done':
      return trans.__('done');
    case 'error':
      return trans.__('error');
    case 'interrupted':
      return trans.__('interrupted');
    case 'skipped':
      return trans.__('nothing to run');
    case 'changed':
      return trans.__('changed, not run');
    case 'not_run':
      return trans.__('not run');
    case 'unknown':
      return trans.__('not known');
  }
}
