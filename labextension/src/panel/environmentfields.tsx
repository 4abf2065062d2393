import { useEffect, useId, useMemo, useState } from 'react';
import type { IPython } from '../model/client';
import { pythonOf } from '../model/environment';
import type { EnvironmentSetting, NumberSetting } from '../model/environment';
import { Installation } from '../model/installation';
import { problemText } from '../model/texts';
import { Field } from './field';
import type { IFieldProps } from './field';
import { NumberFields } from './numberfields';
import type { INumber } from './numberfields';
import { Problem } from './problem';
import { useObservable, useServices } from './services';

interface IEnvironmentFieldsProps {
  field: (name: EnvironmentSetting, label: string) => IFieldProps;
  value: (name: EnvironmentSetting) => string;
  set: (name: EnvironmentSetting, value: string | null) => void;
  /** The requirements file that is kept. */
  kept: string;
}

/**
 * The Python of sandboxes, what is installed in it beforehand, the limits, and when they start and end.
 */
export function EnvironmentFields(props: IEnvironmentFieldsProps): JSX.Element {
  const { field, value, set, kept } = props;
  const { trans } = useServices();
  const heading = useId();
  const gigabytes = (what: string): string => trans.__('%1 (GB)', what);
  const limits: INumber<NumberSetting>[] = [
    {
      name: 'memory_limit',
      label: gigabytes(trans.__('Memory')),
      least: 0.25,
      placeholder: trans.__('Three quarters of what Jupyter may use')
    },
    { name: 'process_limit', label: trans.__('Processes'), least: 1 },
    {
      name: 'cpu_limit',
      label: trans.__('Processors'),
      least: 0.05,
      placeholder: trans.__('All')
    },
    {
      name: 'disk_limit',
      label: gigabytes(trans.__('Disk an action may fill')),
      least: 0.1
    }
  ];
  const life: INumber<NumberSetting>[] = [
    {
      name: 'prewarm',
      label: trans.__('Sandboxes that stand ready'),
      least: 0,
      help: trans.__(
        'A session’s first action need not wait then. 0 to start each one when it is needed.'
      )
    },
    {
      name: 'idle_timeout',
      label: trans.__('Minutes without use until a sandbox ends'),
      least: 0,
      help: trans.__(
        'Its variables and processes are gone then; files stay. 0 for never.'
      )
    }
  ];
  return (
    <>
      <section className="jp-OpenHands-group" aria-labelledby={heading}>
        <h3 id={heading}>{trans.__('Environment')}</h3>
        <Field {...field('python', trans.__('Python of new sessions'))}>
          {(id, disabled, description) => (
            <PythonField
              id={id}
              disabled={disabled}
              description={description}
              value={value('python')}
              onChange={text => set('python', text || null)}
            />
          )}
        </Field>
        <Field
          {...field('requirements', trans.__('Requirements file (optional)'))}
        >
          {(id, disabled, description) => (
            <>
              <input
                id={id}
                className="jp-OpenHands-input"
                value={value('requirements')}
                disabled={disabled}
                spellCheck={false}
                autoComplete="off"
                placeholder={trans.__('Such as requirements.txt')}
                aria-invalid={description !== undefined}
                aria-describedby={description}
                onChange={event =>
                  set('requirements', event.target.value.trim() || null)
                }
              />
              {kept && value('requirements') === kept && (
                <InstallDetails file={kept} />
              )}
            </>
          )}
        </Field>
      </section>
      <NumberFields
        title={trans.__('Limits of new sandboxes')}
        numbers={limits}
        {...{ field, value, set }}
      />
      <NumberFields
        title={trans.__('Start and end of sandboxes')}
        numbers={life}
        {...{ field, value, set }}
      />
    </>
  );
}

function PythonField(props: {
  id: string;
  disabled: boolean;
  description: string | undefined;
  value: string;
  onChange: (text: string) => void;
}): JSX.Element {
  const { id, disabled, description, value, onChange } = props;
  const { model, trans } = useServices();
  const [pythons, setPythons] = useState<readonly IPython[]>([]);
  const choices = useId();
  useEffect(() => {
    let wanted = true;
    void model.client.pythons().then(
      found => wanted && setPythons(found),
      // Without the list, a name or a path can still be typed.
      () => undefined
    );
    return () => {
      wanted = false;
    };
  }, [model]);
  const found = pythonOf(pythons, value);
  return (
    <>
      <input
        id={id}
        className="jp-OpenHands-input"
        list={choices}
        value={value}
        disabled={disabled}
        spellCheck={false}
        autoComplete="off"
        placeholder={trans.__('The one that Jupyter runs in')}
        aria-invalid={description !== undefined}
        aria-describedby={description}
        onChange={event => onChange(event.target.value)}
      />
      <datalist id={choices}>
        {pythons
          .filter(python => python.value)
          .map(python => (
            <option key={python.value} value={python.value}>
              {python.label}
            </option>
          ))}
      </datalist>
      {found?.problem ? (
        <p className="jp-OpenHands-error">{found.problem}</p>
      ) : (
        <p className="jp-OpenHands-quiet">
          {found?.path
            ? trans.__('Python %1 in %2', found.version, found.path)
            : trans.__(
                'The name of a kernel, or the folder of an environment. It is tried when you save.'
              )}
        </p>
      )}
    </>
  );
}

/**
 * Whether what the file lists is installed, and the button for it.
 */
function InstallDetails({ file }: { file: string }): JSX.Element {
  const { model, trans } = useServices();
  const installation = useMemo(() => new Installation(model.client), [model]);
  useObservable(installation);
  useEffect(() => () => installation.close(), [installation]);
  useEffect(() => {
    void installation.check();
  }, [installation, file]);
  const { status, busy, error } = installation;
  const working = status?.state === 'installing';
  const last = status?.lines[status.lines.length - 1];
  return (
    <>
      <div
        className="jp-OpenHands-image"
        aria-live="polite"
        aria-busy={working || busy}
      >
        {error !== null ? (
          <Problem error={problemText(trans, error)} />
        ) : !status ? (
          <p className="jp-OpenHands-quiet">{trans.__('Looking…')}</p>
        ) : status.state === 'failed' ? (
          <>
            <Problem error={status} />
            {status.lines.length > 0 && (
              <pre className="jp-OpenHands-lines">
                {status.lines.join('\n')}
              </pre>
            )}
          </>
        ) : (
          <p className="jp-OpenHands-quiet">
            {status.state === 'ready'
              ? trans.__('Installed: new sandboxes have these packages.')
              : working
                ? (last ?? trans.__('Installing…'))
                : trans.__('Not installed yet.')}
          </p>
        )}
      </div>
      <div className="jp-OpenHands-imageButtons">
        {working ? (
          <button
            type="button"
            className="jp-OpenHands-button"
            onClick={() => void installation.cancel()}
          >
            {trans.__('Cancel')}
          </button>
        ) : (
          (status?.state === 'missing' || status?.state === 'failed') && (
            <button
              type="button"
              className="jp-OpenHands-button"
              onClick={() => void installation.start()}
            >
              {trans.__('Install the packages')}
            </button>
          )
        )}
      </div>
    </>
  );
}
