import { useId } from 'react';
import type { ISettings } from '../model/client';
import {
  ADDED_NAME,
  ADDED_VALUE,
  ownSecrets,
  withChanged
} from '../model/secrets';
import type { ISecretsDraft, SecretPlace } from '../model/secrets';
import type { IProblem } from '../model/texts';
import { Field } from './field';
import type { IFieldProps } from './field';
import { SecretField } from './secretfield';
import { useServices } from './services';

interface ISecretFieldsProps {
  settings: ISettings;
  draft: ISecretsDraft;
  /** What is wrong in a field; null if nothing is known to be. */
  problem: (place: SecretPlace) => IProblem | null;
  onChange: (draft: ISecretsDraft) => void;
}

/**
 * The secrets of a person's own, and a new one.
 */
export function SecretFields(props: ISecretFieldsProps): JSX.Element {
  const { settings, draft, problem, onChange } = props;
  const { trans } = useServices();
  const heading = useId();
  const help = useId();
  const { added } = draft;
  const isKnown = settings.secrets.some(({ name }) => name === added.name);
  const add = (change: Partial<ISecretsDraft['added']>): void =>
    onChange({ ...draft, added: { ...added, ...change } });
  const field = (
    label: string,
    value: string,
    place: SecretPlace
  ): IFieldProps => ({
    label,
    origin: null,
    locked: false,
    changed: value !== '',
    problem: problem(place),
    onReset: () => undefined
  });
  return (
    <section className="jp-OpenHands-group" aria-labelledby={heading}>
      <h3 id={heading}>{trans.__('Secrets')}</h3>
      <p className="jp-OpenHands-quiet">
        {trans.__(
          'Such as the password of a database. The agent’s code has a secret only in the sessions that you allow it for, in the details of their isolation. No value is shown again.'
        )}
      </p>
      {ownSecrets(settings).map(({ name, why_not }) => (
        <SecretField
          key={name}
          name={name}
          label={name}
          settings={settings}
          value={draft.changed[name]}
          problem={problem(name)}
          onChange={value => onChange(withChanged(draft, name, value))}
        >
          {why_not && (
            <p className="jp-OpenHands-quiet">
              {trans.__('Not for the agent’s code: %1.', why_not)}
            </p>
          )}
        </SecretField>
      ))}
      <Field
        {...field(trans.__('Name of a new secret'), added.name, ADDED_NAME)}
      >
        {(id, disabled, description) => (
          <>
            <input
              id={id}
              className="jp-OpenHands-input"
              value={added.name}
              disabled={disabled}
              spellCheck={false}
              autoComplete="off"
              placeholder={trans.__('Such as %1', 'DATABASE_PASSWORD')}
              aria-invalid={description !== undefined}
              aria-describedby={description ?? (isKnown ? help : undefined)}
              onChange={event => add({ name: event.target.value.trim() })}
            />
            {isKnown && (
              <p id={help} className="jp-OpenHands-quiet">
                {trans.__('There is one of this name; it will be replaced.')}
              </p>
            )}
          </>
        )}
      </Field>
      <Field
        {...field(
          trans.__('Value of the new secret'),
          added.value,
          ADDED_VALUE
        )}
      >
        {(id, disabled, description) => (
          <input
            id={id}
            className="jp-OpenHands-input"
            type="password"
            value={added.value}
            disabled={disabled}
            autoComplete="new-password"
            aria-invalid={description !== undefined}
            aria-describedby={description}
            onChange={event => add({ value: event.target.value })}
          />
        )}
      </Field>
    </section>
  );
}
