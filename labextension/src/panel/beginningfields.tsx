import { useEffect } from 'react';
import type { Mode } from '../model/frames';
import { agentText, modeHelp, modeText } from '../model/texts';
import { Field } from './field';
import type { IFieldProps } from './field';
import { useServices } from './services';

type Name = 'agent' | 'mode';

/**
 * What a new session begins with, and can be changed in it: its mode, and who works in it.
 */
export function BeginningFields(props: {
  field: (name: Name, label: string) => IFieldProps;
  value: (name: Name) => string;
  set: (name: Name, value: string | null) => void;
}): JSX.Element {
  const { field, value, set } = props;
  const { model, trans } = useServices();
  useEffect(() => void model.refreshAgents(), [model]);
  const agent = value('agent');
  const agents = model.agents.filter(({ problem }) => !problem);
  const chosen = agents.find(({ name }) => name === agent);
  return (
    <>
      <Field {...field('mode', trans.__('Mode of new sessions'))}>
        {(id, disabled) => (
          <>
            <select
              id={id}
              className="jp-OpenHands-input"
              value={value('mode')}
              disabled={disabled}
              onChange={event => set('mode', event.target.value)}
            >
              {(['ask', 'agent', 'auto'] as const).map(mode => (
                <option key={mode} value={mode}>
                  {modeText(trans, mode)}
                </option>
              ))}
            </select>
            {value('mode') && (
              <p className="jp-OpenHands-quiet">
                {modeHelp(trans, value('mode') as Mode)}
              </p>
            )}
          </>
        )}
      </Field>
      <Field {...field('agent', trans.__('Agent of new sessions'))}>
        {(id, disabled, description) => (
          <>
            <select
              id={id}
              className="jp-OpenHands-input"
              value={agent}
              disabled={disabled}
              aria-describedby={description}
              onChange={event => set('agent', event.target.value)}
            >
              {agent && !chosen && (
                <option value={agent}>{agentText(trans, agent)}</option>
              )}
              {agents.map(({ name, title }) => (
                <option key={name} value={name}>
                  {title}
                </option>
              ))}
            </select>
            {chosen && (
              <p className="jp-OpenHands-quiet">{chosen.description}</p>
            )}
          </>
        )}
      </Field>
    </>
  );
}
