import { useId } from 'react';
import { entriesOf, withEntry } from '../model/network';
import type { NetworkSetting } from '../model/network';
import { Field } from './field';
import type { IFieldProps } from './field';
import { Fold } from './fold';
import { useServices } from './services';

interface INetworkFieldsProps {
  field: (name: NetworkSetting, label: string) => IFieldProps;
  /** What stands in a field; of a list one entry a line. */
  value: (name: NetworkSetting) => string;
  set: (name: NetworkSetting, value: string | null) => void;
}

/**
 * The settings of the network of sandboxes.
 */
export function NetworkFields(props: INetworkFieldsProps): JSX.Element {
  const { field, value, set } = props;
  const { trans } = useServices();
  const heading = useId();
  const on = value('network') === 'allow-list';
  const mirrors: [NetworkSetting, string][] = [
    ['pip_index', trans.__('Package index for pip and uv')],
    ['npm_registry', trans.__('Registry for npm')],
    ['conda_channels', trans.__('Channels for conda')]
  ];
  return (
    <section className="jp-OpenHands-group" aria-labelledby={heading}>
      <h3 id={heading}>{trans.__('Network')}</h3>
      <Field {...field('network', trans.__('Network of the sandbox'))}>
        {(id, disabled) => (
          <>
            <select
              id={id}
              className="jp-OpenHands-input"
              value={value('network')}
              disabled={disabled}
              onChange={event => set('network', event.target.value)}
            >
              <option value="off">{trans.__('Off')}</option>
              <option value="allow-list">
                {trans.__('Only to what is allowed')}
              </option>
            </select>
            <p className="jp-OpenHands-quiet">
              {on
                ? trans.__('Where the agent may go, it may also send data to.')
                : trans.__('The agent can download and install nothing.')}
            </p>
          </>
        )}
      </Field>
      {on && (
        <>
          <Field {...field('network_presets', trans.__('Allowed'))}>
            {(id, disabled) => (
              <Presets
                id={id}
                disabled={disabled}
                value={value('network_presets')}
                onChange={text => set('network_presets', text)}
              />
            )}
          </Field>
          <Field {...field('network_rules', trans.__('Other allowed hosts'))}>
            {(id, disabled, description) => (
              <textarea
                id={id}
                className="jp-OpenHands-input"
                rows={3}
                value={value('network_rules')}
                disabled={disabled}
                spellCheck={false}
                placeholder={trans.__('One a line, such as example.org')}
                aria-invalid={description !== undefined}
                aria-describedby={description}
                onChange={event => set('network_rules', event.target.value)}
              />
            )}
          </Field>
          <Fold
            summary={trans.__('Mirrors and certificates')}
            openAtFirst={[...mirrors.map(([name]) => name), 'ca_bundle'].some(
              name => value(name as NetworkSetting) !== ''
            )}
          >
            <div className="jp-OpenHands-group">
              {mirrors.map(([name, label]) => (
                <Field key={name} {...field(name, label)}>
                  {(id, disabled, description) => (
                    <input
                      id={id}
                      className="jp-OpenHands-input"
                      type="url"
                      value={value(name)}
                      disabled={disabled}
                      placeholder={trans.__('The public one')}
                      aria-invalid={description !== undefined}
                      aria-describedby={description}
                      onChange={event => set(name, event.target.value || null)}
                    />
                  )}
                </Field>
              ))}
              <Field
                {...field('ca_bundle', trans.__('File of certificates (PEM)'))}
              >
                {(id, disabled, description) => (
                  <input
                    id={id}
                    className="jp-OpenHands-input"
                    value={value('ca_bundle')}
                    disabled={disabled}
                    spellCheck={false}
                    placeholder={trans.__('Those of the system')}
                    aria-invalid={description !== undefined}
                    aria-describedby={description}
                    onChange={event =>
                      set('ca_bundle', event.target.value || null)
                    }
                  />
                )}
              </Field>
              <p className="jp-OpenHands-quiet">
                {trans.__('The agent can read them, a password in them too.')}
              </p>
            </div>
          </Fold>
        </>
      )}
      <p className="jp-OpenHands-quiet">
        {trans.__(
          'Changes count for open sessions too. Where that takes another sandbox, as when the network is switched on, a session gets it with your next message: variables and processes are gone then.'
        )}
      </p>
    </section>
  );
}

function Presets(props: {
  id: string;
  disabled: boolean;
  value: string;
  onChange: (text: string) => void;
}): JSX.Element {
  const { id, disabled, value, onChange } = props;
  const { trans } = useServices();
  const chosen = entriesOf(value);
  const presets: [string, string][] = [
    ['python', trans.__('Python packages (PyPI)')],
    ['npm', trans.__('npm packages')],
    ['conda', trans.__('conda packages')],
    ['github', trans.__('GitHub')]
  ];
  return (
    <div
      id={id}
      role="group"
      tabIndex={-1}
      aria-label={trans.__('Allowed')}
      className="jp-OpenHands-checks"
    >
      {presets.map(([name, label]) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            disabled={disabled}
            onChange={event =>
              onChange(withEntry(value, name, event.target.checked))
            }
          />
          {label}
        </label>
      ))}
    </div>
  );
}
