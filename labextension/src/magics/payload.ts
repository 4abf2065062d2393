import { isRecord } from '../model/records';
import { MIME_TYPE } from './mimetype';

const VERSION = 1;

/**
 * Where a task stands: before it began, or the agent's state.
 */
export interface ITaskPayload {
  kind: 'task';
  id: string;
  prompt: string;
  /** `waiting`, `answered` (by an earlier run of the cell), or the agent's state. */
  state: string;
  session: string | null;
  /** Id of the event that the prompt is on the log as. */
  message: number | null;
  answer: string;
  /** Why it ended, where it did not end well. */
  reason: string;
}

/**
 * Something that the kernel asks the page for; its output is replaced by the answer.
 */
export interface IRequestPayload {
  kind: 'request';
  id: string;
}

export type Payload = ITaskPayload | IRequestPayload;

/**
 * States in which nothing more comes of a task by itself.
 */
const ENDED: readonly string[] = [
  'answered',
  'awaiting_user_input',
  'error',
  'finished',
  'paused',
  'rejected',
  'stopped'
];

/**
 * Whether nothing more comes of a task by itself.
 */
export function hasEnded(state: string): boolean {
  return ENDED.includes(state);
}

/**
 * Read what an output holds, which may come from anybody; null if it is nothing of ours.
 */
export function readPayload(value: unknown): Payload | null {
  if (!isRecord(value) || value.version !== VERSION) {
    return null;
  }
  const id = text(value.id);
  if (value.kind === 'request') {
    return { kind: 'request', id };
  }
  if (value.kind !== 'task') {
    return null;
  }
  const { session, message } = value;
  return {
    kind: 'task',
    id,
    prompt: text(value.prompt),
    state: text(value.state),
    session: typeof session === 'string' ? session : null,
    message: Number.isInteger(message) ? (message as number) : null,
    answer: text(value.answer),
    reason: text(value.reason)
  };
}

/**
 * What is kept in the notebook: for this extension, and as text for everybody else.
 *
 * The answer is no Markdown there, which JupyterLab would draw as trusted.
 */
export function bundleOf(
  payload: ITaskPayload,
  plain: string
): Record<string, unknown> {
  return {
    [MIME_TYPE]: { version: VERSION, ...payload },
    'text/plain': payload.answer || plain
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
