import { Dialog, showDialog } from '@jupyterlab/apputils';
import { caretDownIcon } from '@jupyterlab/ui-components';
import { useRef } from 'react';
import type { Mode } from '../model/frames';
import { modeHelp, modeText } from '../model/texts';
import { ChoiceMenu } from './choicemenu';
import { Popover } from './popover';
import { useObservable, useServices } from './services';

const MODES: readonly Mode[] = ['ask', 'agent', 'auto'];

/**
 * The choice of how much may happen without asking.
 */
export function ModePicker(): JSX.Element {
  const { model, trans } = useServices();
  useObservable(model);
  useObservable(model.current);
  const confirmed = useRef(new Set<string>());
  const { mode } = model;

  const choose = async (wanted: Mode): Promise<void> => {
    const session = model.current?.id ?? '';
    if (wanted === 'auto' && !confirmed.current.has(session)) {
      const answer = await showDialog({
        title: trans.__('Switch to Auto?'),
        body: trans.__(
          'The agent then does everything without asking, also what deletes files or leaves the sandbox, until you switch back or the server restarts.'
        ),
        buttons: [
          Dialog.cancelButton({ label: trans.__('Cancel') }),
          Dialog.warnButton({ label: trans.__('Switch to Auto') })
        ],
        defaultButton: 0
      });
      if (!answer.button.accept) {
        return;
      }
      confirmed.current.add(session);
    }
    await model.setMode(wanted);
  };

  return (
    <Popover
      label={trans.__('Mode')}
      side="above"
      buttonClass="jp-OpenHands-select"
      buttonTitle={modeHelp(trans, mode)}
      button={
        <>
          <span className="jp-OpenHands-visuallyHidden">
            {trans.__('Mode:')}{' '}
          </span>
          {modeText(trans, mode)}
          <caretDownIcon.react tag="span" className="jp-OpenHands-icon" />
        </>
      }
    >
      {close => (
        <ChoiceMenu
          label={trans.__('Mode')}
          choices={MODES.map(value => ({
            value,
            label: modeText(trans, value),
            help: modeHelp(trans, value)
          }))}
          current={mode}
          onChoose={wanted => {
            close();
            void choose(wanted);
          }}
        />
      )}
    </Popover>
  );
}
