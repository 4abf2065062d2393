import type { TranslationBundle } from '@jupyterlab/translation';
import type { KernelControlAction, UserKernel } from './events';
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
    case 'KernelControlAction':
      return controlText(trans, action);
    case 'KernelCopyAction':
      return {
        verb: trans.__(
          'Copy %1 to the agent from your kernel:',
          revealOnOneLine(action.variable)
        ),
        object: kernelText(action.path, action.kernel)
      };
    case 'KernelLookAction':
      return {
        verb:
          action.what === 'packages'
            ? trans.__('Look at the packages of the kernel')
            : trans.__('Look at the state of the kernel'),
        object: revealOnOneLine(action.path ?? '')
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

function controlText(
  trans: TranslationBundle,
  action: KernelControlAction
): IActionText {
  if (action.whose !== 'user') {
    return { verb: trans.__('Restart the sandbox’s kernel'), object: '' };
  }
  return {
    verb:
      action.what === 'interrupt'
        ? trans.__('Interrupt your kernel:')
        : trans.__('Restart your kernel:'),
    object: kernelText(action.path ?? '', action.kernel)
  };
}

/**
 * A notebook, and the kernel that it has.
 */
function kernelText(path: string, kernel?: UserKernel | null): string {
  const text = kernel ? `${path} (${kernel.name})` : path;
  return revealOnOneLine(text);
}
