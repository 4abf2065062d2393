import { useId, useState } from 'react';
import type { ISessionChange } from '../model/client';
import { amountText, LIMIT_SETTINGS, limitText } from '../model/limits';
import type { ILimitUse } from '../model/limits';
import type { SessionModel } from '../model/session';
import { Popover } from './popover';
import { useServices } from './services';

/**
 * What the session has used, and what it may take, which can be changed.
 */
export function Limits({ session }: { session: SessionModel }): JSX.Element {
  const { model, trans } = useServices();
  const { steps, step_limit } = session.info;
  return (
    <Popover
      label={trans.__('Limits')}
      side="above"
      buttonClass="jp-OpenHands-statusItem"
      buttonTitle={trans.__(
        'Steps taken, and the limit. Click for all limits.'
      )}
      button={trans.__('Step %1/%2', steps, step_limit)}
      onOpen={() => void model.attempt(() => session.refresh())}
    >
      {close => <LimitsForm session={session} onDone={close} />}
    </Popover>
  );
}

function LimitsForm(props: {
  session: SessionModel;
  onDone: () => void;
}): JSX.Element {
  const { session, onDone } = props;
  const { model, trans } = useServices();
  const [typed, setTyped] = useState<Partial<Record<string, string>>>({});
  const save = async (): Promise<void> => {
    const changes: ISessionChange = {};
    for (const { limit } of session.info.limits) {
      const text = typed[limit];
      if (text !== undefined) {
        changes[LIMIT_SETTINGS[limit]] = Number(text);
      }
    }
    if (Object.keys(changes).length > 0) {
      await model.changeSession(session.id, changes);
    }
    onDone();
  };
  return (
    <form
      className="jp-OpenHands-limits"
      onSubmit={event => {
        event.preventDefault();
        void save();
      }}
    >
      <h3>{trans.__('Limits of this session')}</h3>
      {session.info.limits.map(use => (
        <LimitField
          key={use.limit}
          use={use}
          text={typed[use.limit] ?? (use.allowed ? `${use.allowed}` : '')}
          onChange={text => setTyped({ ...typed, [use.limit]: text })}
        />
      ))}
      <p className="jp-OpenHands-quiet">
        {trans.__('The agent pauses where one is reached, and loses nothing.')}
      </p>
      <button type="submit" className="jp-OpenHands-button jp-mod-accept">
        {trans.__('Save')}
      </button>
    </form>
  );
}

function LimitField(props: {
  use: ILimitUse;
  text: string;
  onChange: (text: string) => void;
}): JSX.Element {
  const { use, text, onChange } = props;
  const { trans } = useServices();
  const id = useId();
  const amount = amountText(use.limit, use.used);
  return (
    <div>
      <label htmlFor={id}>{limitText(trans, use.limit)}</label>
      <input
        id={id}
        className="jp-OpenHands-input"
        type="number"
        min={use.limit === 'steps' ? 1 : 0}
        step={use.limit === 'cost' || use.limit === 'time' ? 'any' : 1}
        required={use.limit === 'steps'}
        placeholder={trans.__('No limit')}
        value={text}
        aria-describedby={`${id}-used`}
        onChange={event => onChange(event.target.value)}
      />
      <p id={`${id}-used`} className="jp-OpenHands-quiet">
        {use.assumed
          ? trans.__(
              'The price of %1 tokens is unknown: with $10 a million for them, %2 are used.',
              use.assumed.toLocaleString(),
              amount
            )
          : trans.__('Used: %1', amount)}
      </p>
    </div>
  );
}
