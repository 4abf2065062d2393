import type { Kernel } from '@jupyterlab/services';
import { isRecord } from '../model/records';
import type { IChange } from './change';

/**
 * A place in a text; both are counted from 0.
 */
interface IPosition {
  line: number;
  column: number;
}

/**
 * A notebook that is open here, as the server is told of it.
 */
export interface IOpenNotebook {
  path: string;
  dirty: boolean;
  read_only: boolean;
  trusted: boolean;
  active_cell: string | null;
  selection: { start: IPosition; end: IPosition } | null;
  visible: boolean;
  kernel: { id: string; name: string; state: Kernel.Status } | null;
  awaiting_input: boolean;
}

/**
 * What the server asks for.
 */
export type Request = { id: string; path: string } & (
  | { method: 'read'; whole: string[] | null; known: string | null }
  | { method: 'change'; change: IChange }
  | { method: 'save' }
  | { method: 'open' }
  | { method: 'run'; cell: string; rev: string; source: string }
  | { method: 'landed'; messages: string[] }
  | { method: 'unknown'; name: string }
);

/**
 * Why something was not done, for the server.
 */
export class Refusal extends Error {
  constructor(
    readonly code:
      | 'not_open'
      | 'read_only'
      | 'changed_on_disk'
      | 'not_saved'
      | 'not_known'
      | 'no_kernel'
      | 'pending_input'
      | 'not_run'
      | 'not_opened',
    message: string
  ) {
    super(message);
  }
}

/**
 * Read a frame of the server.
 *
 * @returns The request, or null for a kind of frame that this version does not know.
 */
export function parseRequest(data: unknown): Request | null {
  const frame: unknown = typeof data === 'string' ? JSON.parse(data) : null;
  if (!isRecord(frame) || frame.type !== 'request' || !isRecord(frame.params)) {
    return null;
  }
  const { path, change, cell, rev, source, messages, whole, known } =
    frame.params;
  const { id, method } = frame;
  if (
    typeof id !== 'string' ||
    typeof path !== 'string' ||
    typeof method !== 'string'
  ) {
    return null;
  }
  switch (method) {
    case 'read':
      return {
        id,
        path,
        method,
        whole: (whole ?? null) as string[] | null,
        known: (known ?? null) as string | null
      };
    case 'open':
    case 'save':
      return { id, path, method };
    case 'change':
      return { id, path, method, change: change as IChange };
    case 'run':
      return {
        id,
        path,
        method,
        cell: cell as string,
        rev: rev as string,
        source: source as string
      };
    case 'landed':
      return { id, path, method, messages: messages as string[] };
    default:
      return { id, path, method: 'unknown', name: method };
  }
}

/**
 * Characters of a result in one frame: a server takes 10 MiB, and a character can be three bytes.
 */
const LONGEST = 2_000_000;

/**
 * The frames that tell a result.
 */
export function answerFrames(id: string, result: unknown): string[] {
  const text = wellFormedJson(result);
  if (text.length <= LONGEST) {
    return [`{"type":"answer","id":${JSON.stringify(id)},"result":${text}}`];
  }
  const frames: string[] = [];
  for (let start = 0; start < text.length;) {
    let end = start + LONGEST;
    // A socket does not carry half a surrogate pair.
    if (end < text.length && text.codePointAt(end - 1)! > 0xffff) {
      end--;
    }
    frames.push(
      JSON.stringify({ type: 'part', id, text: text.slice(start, end) })
    );
    start = end;
  }
  frames.push(JSON.stringify({ type: 'answer', id }));
  return frames;
}

/**
 * The frame that tells why there is no result.
 */
export function errorFrame(id: string, error: unknown): string {
  const code = error instanceof Refusal ? error.code : 'failed';
  const message = error instanceof Error ? error.message : String(error);
  return JSON.stringify({ type: 'answer', id, error: { code, message } });
}

/**
 * A text in which half a surrogate pair is U+FFFD, as the server knows it.
 */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

/**
 * A value as JSON of such texts, since a reader may refuse others.
 */
function wellFormedJson(value: unknown): string {
  const text = JSON.stringify(value);
  return /\\ud[89a-f]/i.test(text)
    ? JSON.stringify(value, (_, part: unknown) =>
        typeof part === 'string' ? wellFormed(part) : part
      )
    : text;
}
