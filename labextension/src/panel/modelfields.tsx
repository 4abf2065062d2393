import { useId } from 'react';
import type { ModelSetting } from '../model/modelsettings';
import { MODEL_NUMBERS, modelSettingText } from '../model/modelsettings';
import { Field } from './field';
import type { IFieldProps } from './field';
import { Fold } from './fold';
import { NumberFields } from './numberfields';
import { useServices } from './services';

interface IModelFieldsProps {
  field: (name: ModelSetting, label: string) => IFieldProps;
  /** What stands in a field; of a list one entry a line. */
  value: (name: ModelSetting) => string;
  set: (name: ModelSetting, value: string | null) => void;
}

/**
 * What is rarely set of the model: what it is able to, and what happens when it fails.
 */
export function ModelFields(props: IModelFieldsProps): JSX.Element {
  const { field, value, set } = props;
  const { trans } = useServices();
  const help = useId();
  const named = (name: ModelSetting): IFieldProps =>
    field(name, modelSettingText(trans, name));
  const choices: [ModelSetting, [string, string][]][] = [
    [
      'tool_calls',
      [
        ['auto', trans.__('Unless it is known not to')],
        ['on', trans.__('Always')],
        ['off', trans.__('Never: it writes them as text')]
      ]
    ],
    [
      'prompt_caching',
      [
        ['auto', trans.__('If it wants to be told')],
        ['on', trans.__('Always')],
        ['off', trans.__('Never')]
      ]
    ],
    [
      'reasoning_effort',
      [
        ['auto', trans.__('As its provider likes')],
        ['low', trans.__('A little')],
        ['medium', trans.__('More')],
        ['high', trans.__('Much')]
      ]
    ]
  ];
  return (
    <Fold
      className="jp-OpenHands-group"
      summary={trans.__('More about the model')}
    >
      <Field {...named('fallback_models')}>
        {(id, disabled, description) => (
          <>
            <textarea
              id={id}
              className="jp-OpenHands-input"
              rows={2}
              value={value('fallback_models')}
              disabled={disabled}
              spellCheck={false}
              aria-invalid={description !== undefined}
              aria-describedby={description ?? help}
              onChange={event => set('fallback_models', event.target.value)}
            />
            <p id={help} className="jp-OpenHands-quiet">
              {trans.__('One a line; they are asked in this order.')}
            </p>
          </>
        )}
      </Field>
      {choices.map(([name, options]) => (
        <Field key={name} {...named(name)}>
          {(id, disabled) => (
            <select
              id={id}
              className="jp-OpenHands-input"
              value={value(name)}
              disabled={disabled}
              onChange={event => set(name, event.target.value)}
            >
              {options.map(([option, text]) => (
                <option key={option} value={option}>
                  {text}
                </option>
              ))}
            </select>
          )}
        </Field>
      ))}
      <NumberFields
        title={trans.__('Limits of the model')}
        numbers={MODEL_NUMBERS.map(name => ({
          name,
          label: modelSettingText(trans, name),
          least: name === 'model_retries' ? 0 : 1,
          placeholder: trans.__('As far as it is known')
        }))}
        field={field}
        value={value}
        set={set}
      />
    </Fold>
  );
}
