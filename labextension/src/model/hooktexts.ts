import type { TranslationBundle } from '@jupyterlab/translation';
import type { HookObservation } from './events';
import { revealOnOneLine } from './inert';

/**
 * Say in a line what a hook of the person's did.
 */
export function hookText(
  trans: TranslationBundle,
  event: HookObservation
): string {
  const about = event.tool
    ? `${event.event}, ${revealOnOneLine(event.tool)}`
    : event.event;
  switch (event.outcome) {
    case 'blocked':
      return event.event === 'Stop'
        ? trans.__('Your hook has the agent go on (%1)', about)
        : trans.__('Blocked by your hook (%1)', about);
    case 'asked':
      return trans.__('Your hook wants you to decide (%1)', about);
    case 'told':
      return trans.__('Your hook told the agent something (%1)', about);
    case 'failed':
      return trans.__('Your hook failed (%1)', about);
    case 'ignored':
      return trans.__('Hooks of the workspace are not run');
  }
}
