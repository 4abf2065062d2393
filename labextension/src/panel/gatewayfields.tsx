import type { GatewaySetting } from '../model/client';
import { Field } from './field';
import type { IFieldProps } from './field';
import { useServices } from './services';

interface IGatewayFieldsProps {
  field: (name: GatewaySetting, label: string) => IFieldProps;
  value: (name: GatewaySetting) => string;
  set: (name: GatewaySetting, value: string | null) => void;
}

/**
 * Which remote Jupyter server sandboxes are at.
 */
export function GatewayFields(props: IGatewayFieldsProps): JSX.Element {
  const { field, value, set } = props;
  const { trans } = useServices();
  const fields: [GatewaySetting, string, string][] = [
    [
      'gateway_url',
      trans.__('Address of the remote server'),
      trans.__('That of Jupyter’s own gateway')
    ],
    [
      'gateway_kernel',
      trans.__('Kernel there'),
      trans.__('The remote server’s default')
    ],
    [
      'gateway_folder',
      trans.__('Folder there'),
      trans.__('Where its kernels start')
    ]
  ];
  return (
    <>
      <p className="jp-OpenHands-quiet">
        {trans.__(
          'The agent works on the files of the remote server. Those of this machine are not copied there, nor do files come back.'
        )}
      </p>
      {fields.map(([name, label, placeholder]) => (
        <Field key={name} {...field(name, label)}>
          {(id, disabled, description) => (
            <input
              id={id}
              className="jp-OpenHands-input"
              type={name === 'gateway_url' ? 'url' : 'text'}
              value={value(name)}
              disabled={disabled}
              spellCheck={false}
              autoComplete="off"
              placeholder={placeholder}
              aria-invalid={description !== undefined}
              aria-describedby={description}
              onChange={event => set(name, event.target.value || null)}
            />
          )}
        </Field>
      ))}
    </>
  );
}
