import { useId } from 'react';
import { Field } from './field';
import type { IFieldProps } from './field';

export interface INumber<Name extends string> {
  name: Name;
  label: string;
  least: number;
  /** What stands for a number that is not set. */
  placeholder?: string;
  /** What the number means. */
  help?: string;
}

interface INumberFieldsProps<Name extends string> {
  title: string;
  numbers: readonly INumber<Name>[];
  field: (name: Name, label: string) => IFieldProps;
  value: (name: Name) => string;
  set: (name: Name, value: string | null) => void;
}

/**
 * A group of settings that are numbers.
 */
export function NumberFields<Name extends string>(
  props: INumberFieldsProps<Name>
): JSX.Element {
  const { title, numbers, field, value, set } = props;
  const heading = useId();
  return (
    <section className="jp-OpenHands-group" aria-labelledby={heading}>
      <h3 id={heading}>{title}</h3>
      {numbers.map(({ name, label, least, placeholder, help }) => (
        <Field key={name} {...field(name, label)}>
          {(id, disabled, description) => (
            <>
              <input
                id={id}
                className="jp-OpenHands-input"
                type="number"
                min={least}
                step="any"
                value={value(name)}
                disabled={disabled}
                placeholder={placeholder}
                aria-invalid={description !== undefined}
                aria-describedby={description ?? (help && `${id}-help`)}
                onChange={event => set(name, event.target.value || null)}
              />
              {help && (
                <p id={`${id}-help`} className="jp-OpenHands-quiet">
                  {help}
                </p>
              )}
            </>
          )}
        </Field>
      ))}
    </section>
  );
}
