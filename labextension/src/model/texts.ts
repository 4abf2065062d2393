import type { TranslationBundle } from '@jupyterlab/translation';
import { ApiError } from './client';
import type { IImageStatus, IModelReport } from './client';
import type {
  BrowserOutputObservation,
  IsolationObservation,
  NetworkRefusedObservation,
  Risk,
  Task
} from './events';
import type { AgentState, Mode } from './frames';
import { revealOnOneLine } from './inert';
import type { IDelegateItem, Result, RunnableAction } from './items';
import { describeBrowsing } from './browsertexts';
import { describeKernelAction } from './kerneltexts';
import { describeNotebookAction, editedText } from './notebooktexts';
import { placeText } from './network';
import type { Access, IPlace } from './network';
import { describeRunAction, runStateText } from './runtexts';

/**
 * What an action does, for a heading: a verb, and what it is done to.
 */
export interface IActionText {
  verb: string;
  /** Inert text, on one line; empty where the body says it all. */
  object: string;
}

/**
 * Name an action.
 */
export function describeAction(
  trans: TranslationBundle,
  action: RunnableAction
): IActionText {
  switch (action.type) {
    case 'CmdRunAction':
      return {
        verb: action.is_input
          ? trans.__('Type into the running command')
          : action.command
            ? trans.__('Run a command')
            : trans.__('Wait for the running command'),
        object: ''
      };
    case 'IPythonRunCellAction':
      return { verb: trans.__('Run Python code'), object: '' };
    case 'FileReadAction':
      return { verb: trans.__('Read'), object: revealOnOneLine(action.path) };
    case 'FileWriteAction':
      return { verb: trans.__('Write'), object: revealOnOneLine(action.path) };
    case 'FileEditAction':
      return {
        verb:
          action.command === 'undo'
            ? trans.__('Undo the last change of')
            : trans.__('Edit'),
        object: revealOnOneLine(action.path)
      };
    case 'FileGlobAction':
      return {
        verb: trans.__('Find files'),
        object: revealOnOneLine(action.pattern)
      };
    case 'FileGrepAction':
      return {
        verb: trans.__('Search files'),
        object: revealOnOneLine(action.pattern)
      };
    case 'PlanHandOverAction':
      return {
        verb: trans.__(
          'Hand over to %1',
          agentText(trans, action.agent ?? 'codeact')
        ),
        object: revealOnOneLine(action.path)
      };
    case 'KernelCodeAction':
    case 'KernelControlAction':
    case 'KernelCopyAction':
    case 'KernelInspectAction':
    case 'KernelLookAction':
      return describeKernelAction(trans, action);
    case 'BrowseInteractiveAction':
      return describeBrowsing(trans, action);
    case 'BrowseURLAction':
      return {
        verb: trans.__('Fetch'),
        object: revealOnOneLine(action.url)
      };
    case 'MCPAction':
      return {
        verb: trans.__('Call your tool'),
        object: revealOnOneLine(`${action.server}: ${action.tool}`)
      };
    case 'AwaitRunAction':
    case 'NotebookRunAction':
    case 'StopRunAction':
      return describeRunAction(trans, action);
    default:
      return describeNotebookAction(trans, action);
  }
}

/**
 * Name a risk level.
 */
export function riskText(
  trans: TranslationBundle,
  level: Risk['level']
): string {
  switch (level) {
    case 'low':
      return trans.__('Low risk');
    case 'medium':
      return trans.__('Medium risk');
    case 'high':
      return trans.__('High risk');
  }
}

/**
 * Say what the agent does at the moment.
 */
export function stateText(
  trans: TranslationBundle,
  state: AgentState,
  asks = false
): string {
  switch (state) {
    case 'loading':
      return trans.__('Getting ready');
    case 'running':
      return trans.__('Working');
    case 'awaiting_user_input':
      return asks
        ? trans.__('Waiting for your answer')
        : trans.__('Ready for a message');
    case 'awaiting_user_confirmation':
      return trans.__('Waiting for your approval');
    case 'rate_limited':
      return trans.__('Waiting for the model provider');
    case 'paused':
      return trans.__('Paused');
    case 'stopped':
      return trans.__('Stopped');
    case 'finished':
      return trans.__('Finished');
    case 'rejected':
      return trans.__('Declined the task');
    case 'error':
      return trans.__('Stopped by an error');
  }
}

type ModelCheck = IModelReport['checks'][number];

/**
 * Name what was tried of a model.
 */
export function subjectText(
  trans: TranslationBundle,
  subject: ModelCheck['subject']
): string {
  return {
    key: trans.__('Key'),
    streaming: trans.__('Streaming'),
    tool_calls: trans.__('Tool calls'),
    vision: trans.__('Images'),
    window: trans.__('Window')
  }[subject];
}

/**
 * Say what came of it.
 */
export function checkStatusText(
  trans: TranslationBundle,
  status: ModelCheck['status']
): string {
  return {
    ok: trans.__('works'),
    failed: trans.__('does not work'),
    unknown: trans.__('not known')
  }[status];
}

/**
 * Name a mode.
 */
export function modeText(trans: TranslationBundle, mode: Mode): string {
  switch (mode) {
    case 'ask':
      return trans.__('Ask');
    case 'agent':
      return trans.__('Agent');
    case 'auto':
      return trans.__('Auto');
  }
}

/**
 * Explain a mode in one line.
 */
export function modeHelp(trans: TranslationBundle, mode: Mode): string {
  switch (mode) {
    case 'ask':
      return trans.__('Reads and answers; changes and runs nothing.');
    case 'agent':
      return trans.__('Works in the sandbox; asks before anything risky.');
    case 'auto':
      return trans.__('Does everything without asking.');
  }
}

/**
 * Name an agent; one that is not built in has the name that it is chosen by.
 */
export function agentText(trans: TranslationBundle, agent: string): string {
  switch (agent) {
    case 'codeact':
      return trans.__('CodeAct');
    case 'planner':
      return trans.__('Planner');
    case 'readonly':
      return trans.__('Read only');
    case 'browsing':
      return trans.__('Browsing');
    case 'swe':
      return trans.__('Software engineer');
    default:
      // Of an import path, the class.
      return agent.replace(/^.*:/, '');
  }
}

/**
 * Say how far a delegate is with its task.
 */
export function delegateText(
  trans: TranslationBundle,
  result: IDelegateItem['result']
): string {
  if (result === null) {
    return trans.__('At work…');
  }
  if (result.type === 'ErrorObservation') {
    return errorOutcome(trans, result.code);
  }
  return result.status === 'rejected' ? trans.__('Declined') : trans.__('Done');
}

/**
 * Say how far the sandbox isolates the agent.
 */
export function isolationText(
  trans: TranslationBundle,
  level: IsolationObservation['level']
): string {
  switch (level) {
    case 'green':
      return trans.__('Isolated');
    case 'amber':
      return trans.__('Partly isolated');
    case 'red':
      return trans.__('Not isolated');
  }
}

/**
 * Say that a place was not reached: what happened, and what can be done where a person can do
 * nothing here.
 */
export function refusalText(
  trans: TranslationBundle,
  refused: NetworkRefusedObservation
): IProblem {
  const place = revealOnOneLine(placeText(refused));
  switch (refused.reason) {
    case 'not_listed':
      return {
        message: trans.__('Network: %1 was not allowed.', place),
        hint: ''
      };
    case 'ip_address':
      return {
        message: trans.__('Network: %1 was refused.', place),
        hint: trans.__('Hosts are reached by their names only.')
      };
    case 'local_address':
      return {
        message: trans.__('Network: %1 is in a local network.', place),
        hint: trans.__(
          'Only the administrator of this Jupyter server can open such networks.'
        )
      };
    case 'unresolved':
      return {
        message: trans.__('Network: %1 was not found.', place),
        hint: trans.__('Check the name, and the connection of the server.')
      };
    case 'unreachable':
      return {
        message: trans.__('Network: %1 does not answer.', place),
        hint: trans.__('Try again later, or check the server’s connection.')
      };
  }
}

/**
 * Say what the person allowed, or took back.
 */
export function accessText(
  trans: TranslationBundle,
  place: IPlace,
  access: Access
): string {
  const text = revealOnOneLine(placeText(place));
  switch (access) {
    case 'once':
      return trans.__('Network: you allowed %1 for the next command.', text);
    case 'session':
      return trans.__('Network: you allowed %1 for this session.', text);
    case 'revoked':
      return trans.__('Network: you no longer allow %1.', text);
  }
}

/**
 * Say in a few words what came of an action, in text and not only in colour.
 */
export function outcomeText(trans: TranslationBundle, result: Result): string {
  switch (result.type) {
    case 'UserRejectObservation':
      return trans.__('Rejected, not executed');
    case 'ErrorObservation':
      return errorOutcome(trans, result.code);
    case 'CmdOutputObservation':
      if (result.interrupted) {
        return interruptionText(trans, result.interrupted);
      }
      if (result.running) {
        return trans.__('Still running');
      }
      return trans.__('Exit code %1', `${result.exit_code ?? '?'}`);
    case 'IPythonOutputObservation':
    case 'KernelCodeObservation':
      if (result.interrupted) {
        return interruptionText(trans, result.interrupted);
      }
      return result.ok === false ? trans.__('Error') : trans.__('Done');
    case 'MCPObservation':
      return result.ok === false ? trans.__('Error') : trans.__('Done');
    case 'BrowserOutputObservation':
      if (!fetched(result)) {
        return trans.__('Status %1', `${result.status}`);
      }
      return result.tabs?.length ? trans.__('Done') : trans.__('Fetched');
    case 'PlanHandOverObservation':
      return trans.__('%1 carries it out', agentText(trans, result.agent));
    case 'FileWriteObservation':
      return result.created ? trans.__('Created') : trans.__('Written');
    case 'FileEditObservation':
      return trans.__('Changed');
    case 'FileReadObservation':
      return result.is_dir
        ? trans.__('Listed')
        : trans._n('%1 line', '%1 lines', result.total_lines ?? 0);
    case 'FileGlobObservation':
      return trans._n('%1 file', '%1 files', result.total ?? 0);
    case 'FileGrepObservation':
      return trans._n('%1 line found', '%1 lines found', result.total ?? 0);
    case 'KernelCopyObservation':
      return trans.__('Copied');
    case 'KernelObservation':
      return trans.__('Done');
    case 'NotebookObservation':
      return trans.__('Read');
    case 'NotebookEditObservation':
      return editedText(trans, result);
    case 'NotebookRunObservation':
      return runStateText(trans, result);
  }
}

function errorOutcome(trans: TranslationBundle, code: string): string {
  switch (code) {
    case 'hook_blocked':
      return trans.__('Blocked by your hook');
    case 'interrupted':
      return trans.__('Interrupted');
    case 'refused':
      return trans.__('Not allowed in this mode');
    case 'stopped':
      return trans.__('Stopped');
    default:
      return trans.__('Failed');
  }
}

/**
 * States of a run in which nothing has gone wrong.
 */
const SUCCEEDS: readonly string[] = [
  'queued',
  'running',
  'awaiting_input',
  'done'
];

/**
 * Whether an action did what it should.
 */
export function succeeded(result: Result): boolean {
  switch (result.type) {
    case 'UserRejectObservation':
    case 'ErrorObservation':
      return false;
    case 'CmdOutputObservation':
      return result.exit_code === 0 || result.running === true;
    case 'IPythonOutputObservation':
    case 'KernelCodeObservation':
    case 'MCPObservation':
      return result.ok !== false;
    case 'BrowserOutputObservation':
      return fetched(result);
    case 'NotebookRunObservation':
      return SUCCEEDS.includes(result.state);
    default:
      return true;
  }
}

/**
 * Whether a page is the one that was asked for, and not one that tells of an error.
 */
function fetched({ status }: BrowserOutputObservation): boolean {
  return (status ?? 200) < 400;
}

type Interruption =
  | 'timeout'
  | 'stopped'
  | 'kernel_died'
  | 'sandbox_died'
  | 'output_limit'
  | 'disk_limit';

function interruptionText(trans: TranslationBundle, why: Interruption): string {
  switch (why) {
    case 'timeout':
      return trans.__('Stopped after its time limit');
    case 'stopped':
      return trans.__('Stopped');
    case 'kernel_died':
      return trans.__('The kernel died');
    case 'sandbox_died':
      return trans.__('The sandbox died');
    case 'output_limit':
      return trans.__('Stopped: too much output');
    case 'disk_limit':
      return trans.__('Stopped: too much added to the disk');
  }
}

/**
 * Summarise a plan.
 */
export function planText(trans: TranslationBundle, tasks: Task[]): string {
  const done = tasks.filter(task => task.status === 'done').length;
  return trans.__('Plan: %1 of %2 done', done, tasks.length);
}

/**
 * Megabytes, as whole numbers.
 */
export function megabytes(bytes: number): string {
  return Math.round(bytes / 1e6).toLocaleString();
}

/**
 * What was found about an image of Docker sandboxes.
 */
export function imageText(
  trans: TranslationBundle,
  status: IImageStatus
): string {
  switch (status.state) {
    case 'ready':
      return trans.__(
        'Ready: it has Python %1 and ipykernel %2.',
        status.python,
        status.ipykernel
      );
    case 'incomplete':
      return trans.__('The image lacks %1.', status.lacks.join(', '));
    case 'pulling':
      return status.message || trans.__('Asking for the image…');
    case 'missing':
    case 'unavailable':
      return status.message;
  }
}

/**
 * What to tell a person about something that failed: a sentence, and what to do.
 */
export interface IProblem {
  message: string;
  hint: string;
}

/**
 * Say what the name of a secret is like.
 */
export function secretNameProblem(trans: TranslationBundle): IProblem {
  return {
    message: trans.__(
      'A secret’s name is made of capital letters, digits and underscores, at most 64, and begins with a letter.'
    ),
    hint: trans.__('It is the name of an environment variable.')
  };
}

/**
 * Put a failed request into words.
 */
export function problemText(
  trans: TranslationBundle,
  error: unknown
): IProblem {
  if (!(error instanceof ApiError)) {
    const what = error instanceof Error ? error.message : String(error);
    return { message: what, hint: '' };
  }
  if (error.message) {
    return { message: error.message, hint: error.hint };
  }
  switch (error.status) {
    case 0:
      return {
        message: trans.__('The Jupyter server cannot be reached.'),
        hint: trans.__('Check that it runs and that the network is up.')
      };
    case 401:
    case 403:
      return {
        message: trans.__('The Jupyter server refused the request.'),
        hint: trans.__('Reload the page and log in again.')
      };
    case 404:
      return {
        message: trans.__('The server does not have what was asked for.'),
        hint: trans.__(
          'The session may have been deleted, or the OpenHands server extension is not enabled.'
        )
      };
    case 409:
      return {
        message: trans.__('This is no longer waiting for a decision.'),
        hint: ''
      };
    default:
      return {
        message: trans.__('The server failed (status %1).', error.status),
        hint: trans.__('Its log says why.')
      };
  }
}
