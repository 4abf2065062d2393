import { useId } from 'react';
import type { ModelSetting } from '../model/modelsettings';
import { MODEL_NUMBERS } from '../model/modelsettings';
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
  const choices: [ModelSetting, string, [string, string][]][] = [
    [
      'tool_calls',
      trans.__('The model calls tools'),
      [
        ['auto', trans.__('Unless it is known not to')],
        ['on', trans.__('Always')],
        ['off', trans.__('Never: it writes them as text')]
      ]
    ],
    [
      'reasoning_effort',
      trans.__('The model thinks before it answers'),
      [
        ['auto', trans.__('As its provider likes')],
        ['low', trans.__('A little')],
        ['medium', trans.__('More')],
        ['high', trans.__('Much')]
      ]
    ]
  ];
  const labels = {
    context_window: trans.__('Window, in tokens'),
    max_output_tokens: trans.__('Longest answer, in tokens'),
    model_timeout: trans.__('Silence after which a call is given up, in s'),
    model_retries: trans.__('Times that it is asked again')
  };
  return (
    <Fold
      className="jp-OpenHands-group"
      summary={trans.__('More about the model')}
    >
      <Field
        {...field('fallback_models', trans.__('Other models if it fails'))}
      >
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
      {choices.map(([name, label, options]) => (
        <Field key={name} {...field(name, label)}>
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
          label: labels[name],
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
