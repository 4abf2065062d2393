import type { Kernel } from '@jupyterlab/services';
import kinds from '../../../openhands_jupyter/notebooks/in_kernel/kinds.py';
import variables from '../../../openhands_jupyter/notebooks/in_kernel/variables.py';
import type { Variable } from '../model/events';
import { isRecord } from '../model/records';

/**
 * Milliseconds in which a kernel has to tell its variables.
 */
const WITHIN = 1000;

/**
 * Lengths that the server accepts: openhands_jupyter/server/context.py.
 */
const LONGEST = 200;
const MOST = 100;
const MOST_DTYPES = 20;
const MOST_AXES = 64;

/**
 * An expression, so that no name is left behind; what it executes has a namespace of its own.
 */
const EXPRESSION = `(lambda e, s: (${[kinds, variables]
  .map(code => `e(${JSON.stringify(code)}, s)`)
  .join(
    ', '
  )}, s['told'])[-1])(__import__('builtins').exec, {'names': globals()})`;

/**
 * The variables that a person made.
 */
export interface IVariables {
  variables: Variable[];
  left_out: number;
}

/**
 * Ask a kernel that is idle for its variables: without a trace, and without calling any code of the
 * person's but what they registered for IPython's `post_execute`.
 *
 * @returns The variables; null where the kernel has no Python, or did not tell them in time.
 */
export async function readVariables(
  kernel: Kernel.IKernelConnection
): Promise<IVariables | null> {
  if (kernel.status !== 'idle') {
    return null;
  }
  const future = kernel.requestExecute({
    code: '',
    silent: true,
    store_history: false,
    stop_on_error: false,
    allow_stdin: false,
    user_expressions: { told: EXPRESSION }
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLate = new Promise<null>(resolve => {
    timer = setTimeout(() => resolve(null), WITHIN);
  });
  // A future that is given up fails, and so does one whose kernel dies.
  const done = future.done.catch(() => null);
  const reply = await Promise.race([done, tooLate]);
  clearTimeout(timer);
  future.dispose();
  return reply?.content.status === 'ok'
    ? parse(reply.content.user_expressions.told)
    : null;
}

/**
 * Read what a kernel says, which may be anything.
 */
function parse(result: unknown): IVariables | null {
  const data = isRecord(result) && isRecord(result.data) ? result.data : {};
  const text = data['text/plain'];
  try {
    // It is the `repr` of base64 of JSON in ASCII.
    const told: unknown = JSON.parse(atob(String(text).slice(1, -1)));
    if (isRecord(told) && Array.isArray(told.variables)) {
      const variables = told.variables.slice(0, MOST).map(variable);
      return { variables, left_out: size(told.left_out) };
    }
  } catch {
    // Then it is no answer.
  }
  return null;
}

function variable(told: unknown): Variable {
  const { name, type, shape, dtypes } = isRecord(told)
    ? told
    : ({} as Record<string, unknown>);
  return {
    name: short(name),
    type: short(type),
    ...(Array.isArray(shape) && { shape: shape.slice(0, MOST_AXES).map(size) }),
    ...(Array.isArray(dtypes) && {
      dtypes: dtypes.slice(0, MOST_DTYPES).map(short)
    })
  };
}

function short(text: unknown): string {
  return (typeof text === 'string' ? text : '?')
    .slice(0, LONGEST)
    .replace(/\p{Surrogate}/gu, '\ufffd');
}

function size(number: unknown): number {
  return Number.isSafeInteger(number) && (number as number) >= 0
    ? (number as number)
    : 0;
}
