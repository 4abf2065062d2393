import { Dialog, InputDialog, showDialog } from '@jupyterlab/apputils';
import { Time } from '@jupyterlab/coreutils';
import {
  addIcon,
  caretDownIcon,
  consoleIcon,
  deleteIcon,
  editIcon,
  settingsIcon
} from '@jupyterlab/ui-components';
import type { ISessionInfo } from '../model/frames';
import { stateText } from '../model/texts';
import { Popover } from './popover';
import { useObservable, useServices } from './services';

/**
 * The head of the panel: which session is shown, the list of all, and the settings.
 */
export function Header(): JSX.Element {
  const { model, trans } = useServices();
  useObservable(model);
  useObservable(model.current);
  const title = model.current
    ? titleOf(model.current.info, trans.__('Untitled'))
    : trans.__('New session');
  const inSettings = model.view === 'settings';
  return (
    <div className="jp-OpenHands-header">
      <Popover
        label={trans.__('Sessions')}
        side="below"
        buttonClass="jp-OpenHands-switcher"
        buttonTitle={trans.__('Sessions')}
        button={
          <>
            <span className="jp-OpenHands-ellipsis">{title}</span>
            <caretDownIcon.react tag="span" className="jp-OpenHands-icon" />
          </>
        }
        onOpen={() => void model.refreshSessions()}
      >
        {close => <SessionList close={close} />}
      </Popover>
      <button
        type="button"
        className="jp-OpenHands-iconButton"
        title={trans.__('New session')}
        aria-label={trans.__('New session')}
        onClick={() => model.startNew()}
      >
        <addIcon.react tag="span" className="jp-OpenHands-icon" />
      </button>
      <button
        type="button"
        className="jp-OpenHands-iconButton"
        title={trans.__('Settings')}
        aria-label={trans.__('Settings')}
        aria-pressed={inSettings}
        onClick={() => model.show(inSettings ? 'session' : 'settings')}
      >
        <settingsIcon.react tag="span" className="jp-OpenHands-icon" />
      </button>
    </div>
  );
}

function SessionList({ close }: { close: () => void }): JSX.Element {
  const { model, trans } = useServices();
  if (model.sessions.length === 0) {
    return (
      <p className="jp-OpenHands-quiet">{trans.__('There is none yet.')}</p>
    );
  }
  return (
    <ul className="jp-OpenHands-sessions">
      {model.sessions.map(session => (
        <SessionRow key={session.id} session={session} close={close} />
      ))}
    </ul>
  );
}

function SessionRow(props: {
  session: ISessionInfo;
  close: () => void;
}): JSX.Element {
  const { session, close } = props;
  const { model, openConsole, trans } = useServices();
  const title = titleOf(session, trans.__('Untitled'));

  const rename = async (): Promise<void> => {
    const answer = await InputDialog.getText({
      title: trans.__('Rename session'),
      label: trans.__('Title'),
      text: session.title,
      okLabel: trans.__('Rename')
    });
    if (answer.button.accept && answer.value?.trim()) {
      await model.rename(session.id, answer.value.trim());
    }
  };
  const remove = async (): Promise<void> => {
    const answer = await showDialog({
      title: trans.__('Delete session'),
      body: trans.__(
        'Delete “%1” with its whole log? Files in the workspace stay. This cannot be undone.',
        title
      ),
      buttons: [
        Dialog.cancelButton({ label: trans.__('Cancel') }),
        Dialog.warnButton({ label: trans.__('Delete') })
      ],
      defaultButton: 0
    });
    if (answer.button.accept) {
      await model.delete(session.id);
    }
  };

  return (
    <li>
      <button
        type="button"
        className="jp-OpenHands-session"
        aria-current={session.id === model.current?.id ? 'true' : undefined}
        onClick={() => {
          close();
          void model.select(session.id);
        }}
      >
        <span className="jp-OpenHands-ellipsis">{title}</span>
        <span className="jp-OpenHands-quiet">
          {stateText(trans, session.state)} ·{' '}
          {Time.formatHuman(session.updated)}
        </span>
      </button>
      {session.kernel && (
        <button
          type="button"
          className="jp-OpenHands-iconButton"
          title={trans.__('Open a console on its kernel')}
          aria-label={trans.__('Open a console on the kernel of “%1”', title)}
          onClick={() => {
            close();
            openConsole(session.id);
          }}
        >
          <consoleIcon.react tag="span" className="jp-OpenHands-icon" />
        </button>
      )}
      <button
        type="button"
        className="jp-OpenHands-iconButton"
        title={trans.__('Rename')}
        aria-label={trans.__('Rename “%1”', title)}
        onClick={() => void rename()}
      >
        <editIcon.react tag="span" className="jp-OpenHands-icon" />
      </button>
      <button
        type="button"
        className="jp-OpenHands-iconButton"
        title={trans.__('Delete')}
        aria-label={trans.__('Delete “%1”', title)}
        onClick={() => void remove()}
      >
        <deleteIcon.react tag="span" className="jp-OpenHands-icon" />
      </button>
    </li>
  );
}

function titleOf(session: ISessionInfo, untitled: string): string {
  return session.title || untitled;
}
