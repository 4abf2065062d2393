import { Notification } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import { CommandIDs } from './commandids';
import type { SessionModel } from './model/session';

/**
 * Milliseconds for which a notification is shown that waits for nothing.
 */
const SHOWN = 5000;

/**
 * Tell a person who does not see the panel what they would want to know.
 */
export function notify(
  commands: CommandRegistry,
  trans: TranslationBundle,
  session: SessionModel
): void {
  const { state, title } = session.info;
  const actions = [
    {
      label: trans.__('Show'),
      callback: () => void commands.execute(CommandIDs.open)
    }
  ];
  switch (state) {
    case 'awaiting_user_confirmation':
      Notification.warning(trans.__('OpenHands asks for approval: %1', title), {
        actions,
        autoClose: false
      });
      break;
    case 'finished':
      Notification.success(trans.__('OpenHands has finished: %1', title), {
        actions,
        autoClose: SHOWN
      });
      break;
    case 'error':
      Notification.error(trans.__('OpenHands met an error: %1', title), {
        actions,
        autoClose: false
      });
      break;
  }
}
