import { caretDownIcon } from '@jupyterlab/ui-components';
import { agentText } from '../model/texts';
import type { IChoice } from './choicemenu';
import { ChoiceMenu } from './choicemenu';
import { Popover } from './popover';
import { useObservable, useServices } from './services';

/**
 * The choice of who works in the session.
 */
export function AgentPicker(): JSX.Element {
  const { model, trans } = useServices();
  useObservable(model);
  useObservable(model.current);
  const { agent } = model;
  const listed: IChoice<string>[] = model.agents.map(info => ({
    value: info.name,
    label: info.title,
    help: info.problem || info.description,
    disabled: info.problem !== ''
  }));
  // Until the list came, and where the session's own is not among them.
  const choices = listed.some(choice => choice.value === agent)
    ? listed
    : [{ value: agent, label: agentText(trans, agent), help: '' }, ...listed];
  return (
    <Popover
      label={trans.__('Agent')}
      side="above"
      buttonClass="jp-OpenHands-select"
      buttonTitle={trans.__('Who works in this session')}
      onOpen={() => void model.refreshAgents()}
      button={
        <>
          <span className="jp-OpenHands-visuallyHidden">
            {trans.__('Agent:')}{' '}
          </span>
          {agentText(trans, agent)}
          <caretDownIcon.react tag="span" className="jp-OpenHands-icon" />
        </>
      }
    >
      {close => (
        <ChoiceMenu
          label={trans.__('Agent')}
          choices={choices}
          current={agent}
          onChoose={wanted => {
            close();
            void model.setAgent(wanted);
          }}
        />
      )}
    </Popover>
  );
}
