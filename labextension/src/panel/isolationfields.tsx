import type { ReactNode } from 'react';
import type { IsolationSetting } from '../model/settings';
import { ImageField } from './dockerimage';
import { Field } from './field';
import type { IFieldProps } from './field';
import { GatewayFields } from './gatewayfields';
import { useServices } from './services';

interface IIsolationFieldsProps {
  field: (name: IsolationSetting, label: string) => IFieldProps;
  value: (name: IsolationSetting) => string;
  set: (name: IsolationSetting, value: string | null) => void;
  /** The image that is kept. */
  keptImage: string;
  /** The field of the secret that opens a remote server. */
  token: ReactNode;
}

/**
 * What the agent's code runs in, and what is to be known for that.
 */
export function IsolationFields(props: IIsolationFieldsProps): JSX.Element {
  const { field, value, set, keptImage, token } = props;
  const { trans } = useServices();
  return (
    <>
      <Field {...field('isolation', trans.__('Isolation of new sessions'))}>
        {(id, disabled) => (
          <>
            <select
              id={id}
              className="jp-OpenHands-input"
              value={value('isolation')}
              disabled={disabled}
              onChange={event => set('isolation', event.target.value)}
            >
              <option value="auto">
                {trans.__('Automatic: the best sandbox that works here')}
              </option>
              <option value="bubblewrap">
                {trans.__('Sandbox (bubblewrap)')}
              </option>
              <option value="landlock">
                {trans.__('Weaker sandbox (Landlock)')}
              </option>
              <option value="docker">{trans.__('Container (Docker)')}</option>
              <option value="gateway">
                {trans.__('Remote Jupyter server (gateway)')}
              </option>
              <option value="none">{trans.__('None')}</option>
            </select>
            {value('isolation') === 'none' && (
              <p className="jp-OpenHands-error" role="alert">
                {trans.__(
                  'Without a sandbox the agent’s code can read, change and delete everything that you can, your keys and other notebooks included.'
                )}
              </p>
            )}
          </>
        )}
      </Field>
      {value('isolation') === 'docker' && (
        <Field {...field('docker_image', trans.__('Image of the containers'))}>
          {(id, disabled) => (
            <ImageField
              id={id}
              disabled={disabled}
              value={value('docker_image')}
              kept={keptImage}
              onChange={name => set('docker_image', name.trim() || null)}
            />
          )}
        </Field>
      )}
      {value('isolation') === 'gateway' && (
        <>
          <GatewayFields field={field} value={value} set={set} />
          {token}
        </>
      )}
    </>
  );
}
