import type { ReactNode } from 'react';
import type { ISettings } from '../model/client';
import type { IProblem } from '../model/texts';
import { Field } from './field';
import { useServices } from './services';

interface ISecretFieldProps {
  /** The secret's name. */
  name: string;
  label: string;
  settings: ISettings;
  /** What was typed; empty to remove the secret, undefined to leave it. */
  value: string | undefined;
  /** What is wrong with what was typed; null if nothing is known to be. */
  problem: IProblem | null;
  onChange: (value: string | undefined) => void;
  children?: ReactNode;
}

/**
 * A secret, which is written and never shown.
 */
export function SecretField(props: ISecretFieldProps): JSX.Element {
  const { name, label, settings, value, problem, onChange, children } = props;
  const { trans } = useServices();
  const secret = settings.secrets.find(known => known.name === name);
  return (
    <Field
      label={label}
      origin={secret?.origin ?? null}
      // The server refuses to set what its environment sets.
      locked={secret?.origin === 'environment'}
      changed={value !== undefined}
      problem={problem}
      removes
      onReset={() => onChange('')}
    >
      {(id, disabled, description) => (
        <>
          <input
            id={id}
            className="jp-OpenHands-input"
            type="password"
            disabled={disabled}
            autoComplete="off"
            value={value ?? ''}
            aria-invalid={description !== undefined}
            aria-describedby={description}
            placeholder={
              value === ''
                ? trans.__('Will be removed')
                : secret
                  ? trans.__('Is set; type to replace it')
                  : trans.__('Is not set')
            }
            onChange={event => onChange(event.target.value || undefined)}
          />
          {children}
        </>
      )}
    </Field>
  );
}
