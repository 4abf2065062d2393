import type { LimitSetting } from '../model/limits';
import { Field } from './field';
import type { IFieldProps } from './field';
import { NumberFields } from './numberfields';
import type { INumber } from './numberfields';
import { useServices } from './services';

type Name = LimitSetting | 'stuck_detection';

/**
 * What new sessions may take, and whether an agent that gets nowhere is stopped.
 */
export function LimitFields(props: {
  field: (name: Name, label: string) => IFieldProps;
  value: (name: Name) => string;
  set: (name: Name, value: string | null) => void;
}): JSX.Element {
  const { field, value, set } = props;
  const { trans } = useServices();
  const numbers: INumber<LimitSetting>[] = [
    { name: 'step_limit', label: trans.__('Steps'), least: 1 },
    {
      name: 'cost_limit',
      label: trans.__('US dollars'),
      least: 0,
      help: trans.__(
        '0 for no limit. Tokens whose price is not known count as $10 a million.'
      )
    },
    {
      name: 'token_limit',
      label: trans.__('Tokens'),
      least: 0,
      help: trans.__('0 for no limit.')
    },
    {
      name: 'time_limit',
      label: trans.__('Minutes of work'),
      least: 0,
      help: trans.__('0 for no limit. Waiting for you does not count.')
    }
  ];
  return (
    <>
      <NumberFields
        title={trans.__('Limits of new sessions')}
        numbers={numbers}
        field={field}
        value={value}
        set={set}
      />
      <Field
        {...field(
          'stuck_detection',
          trans.__('When the agent repeats itself in new sessions')
        )}
      >
        {(id, disabled, description) => (
          <select
            id={id}
            className="jp-OpenHands-input"
            value={value('stuck_detection')}
            disabled={disabled}
            aria-describedby={description}
            onChange={event => set('stuck_detection', event.target.value)}
          >
            <option value="true">
              {trans.__('Tell it, and pause if that does not help')}
            </option>
            <option value="false">{trans.__('Let it')}</option>
          </select>
        )}
      </Field>
    </>
  );
}
