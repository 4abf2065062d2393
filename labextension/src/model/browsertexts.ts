import type { TranslationBundle } from '@jupyterlab/translation';
import type { BrowseInteractiveAction } from './events';
import { revealOnOneLine } from './inert';
import type { IActionText } from './texts';

/**
 * Name what the agent does in its browser, and with what.
 */
export function describeBrowsing(
  trans: TranslationBundle,
  action: BrowseInteractiveAction
): IActionText {
  return {
    verb: verbText(trans, action.do),
    object: revealOnOneLine(objectOf(trans, action))
  };
}

function verbText(
  trans: TranslationBundle,
  what: BrowseInteractiveAction['do']
): string {
  switch (what) {
    case 'open':
      return trans.__('Open in the browser');
    case 'open_tab':
      return trans.__('Open in a new tab of the browser');
    case 'back':
      return trans.__('Go back in the browser');
    case 'click':
      return trans.__('Click');
    case 'type':
      return trans.__('Type into');
    case 'press':
      return trans.__('Press a key:');
    case 'select':
      return trans.__('Choose in');
    case 'scroll':
      return trans.__('Scroll');
    case 'wait':
      return trans.__('Wait for the page');
    case 'look':
      return trans.__('Look at the page');
    case 'screenshot':
      return trans.__('Take a picture of the page');
    case 'switch_tab':
      return trans.__('Switch to tab');
    case 'close_tab':
      return trans.__('Close tab');
  }
}

function objectOf(
  trans: TranslationBundle,
  action: BrowseInteractiveAction
): string {
  const element = action.element || action.ref || '';
  switch (action.do) {
    case 'open':
    case 'open_tab':
      return action.url ?? '';
    case 'switch_tab':
    case 'close_tab':
      return action.tab ? `${action.tab}` : '';
    case 'press':
      return action.text ?? '';
    case 'type':
      // What is typed stands below, whole.
      return action.enter ? trans.__('%1, then Enter', element) : element;
    case 'wait':
    case 'look':
      return action.text ?? '';
    default:
      return element;
  }
}
