import type { TranslationBundle } from '@jupyterlab/translation';

/**
 * Why a kernel in a sandbox is not listened to.
 */
export function sandboxedText(trans: TranslationBundle): string {
  return trans.__(
    'This kernel is in a sandbox, and what is in a sandbox cannot give tasks. Use a kernel of your own, or the OpenHands panel.'
  );
}
