import type { TranslationBundle } from '@jupyterlab/translation';
import type { UserKernel } from './events';
import { revealOnOneLine } from './inert';
import type { KernelAction } from './items';
import type { IActionText } from './texts';

/**
 * Name what the agent does with a kernel.
 */
export function describeKernelAction(
  trans: TranslationBundle,
  action: KernelAction
): IActionText {
  switch (action.type) {
    case 'KernelCodeAction':
      return {
        verb: trans.__('Run code in your kernel:'),
        object: kernelText(action.path, action.kernel)
      };
    case 'KernelInspectAction':
      return action.whose === 'user'
        ? {
            verb: trans.__('Look at variables of'),
            object: revealOnOneLine(action.path ?? '')
          }
        : { verb: trans.__('Look at variables in the sandbox'), object: '' };
  }
}

/**
 * A notebook, and the kernel that it has.
 */
function kernelText(path: string, kernel?: UserKernel | null): string {
  const text = kernel ? `${path} (${kernel.name})` : path;
  return revealOnOneLine(text);
}
