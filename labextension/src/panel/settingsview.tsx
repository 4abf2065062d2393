import type { ReactNode } from 'react';
import { useEffect, useId, useState } from 'react';
import { ApiError } from '../model/client';
import type { ISettings } from '../model/client';
import { adviceText, modelSettingText } from '../model/modelsettings';
import {
  API_KEY,
  GATEWAY_TOKEN,
  NO_SECRETS,
  ownSecrets,
  SecretRefused,
  withChanged
} from '../model/secrets';
import type { ISecretsDraft } from '../model/secrets';
import { textOf, toChange } from '../model/settings';
import type { SettingName, SettingsDraft } from '../model/settings';
import { problemText, secretNameProblem } from '../model/texts';
import type { IProblem } from '../model/texts';
import { BeginningFields } from './beginningfields';
import { ConfigProblems } from './configproblems';
import { EnvironmentFields } from './environmentfields';
import { Field } from './field';
import type { IFieldProps } from './field';
import { IsolationFields } from './isolationfields';
import { ModelFields } from './modelfields';
import { ModelTest } from './modeltest';
import { LimitFields } from './limitfields';
import { McpServers } from './mcpservers';
import { NetworkFields } from './networkfields';
import { Problem } from './problem';
import { SecretField } from './secretfield';
import { SecretFields } from './secretfields';
import { useObservable, useServices } from './services';

/**
 * The settings of the server that concern a person, each with where its value comes from.
 */
export function SettingsView(): JSX.Element {
  const { model, trans } = useServices();
  useObservable(model);
  useEffect(() => {
    void model.refreshSettings().then(() => model.findLocalModels());
  }, [model]);
  if (!model.settings) {
    return <p className="jp-OpenHands-quiet">{trans.__('Loading…')}</p>;
  }
  return <SettingsForm settings={model.settings} />;
}

function SettingsForm({ settings }: { settings: ISettings }): JSX.Element {
  const { model, trans } = useServices();
  const [changes, setChanges] = useState<SettingsDraft>({});
  const [secrets, setSecrets] = useState(NO_SECRETS);
  const [saving, setSaving] = useState(false);
  const [saved, setSaved] = useState(false);
  const [problem, setProblem] = useState<IProblem | null>(null);
  // Of which setting the problem is, where it is shown there.
  const [wrong, setWrong] = useState<string | null>(null);
  const choices = useId();

  const set = (name: SettingName, value: string | null): void => {
    setSaved(false);
    setChanges({ ...changes, [name]: value });
  };
  const value = (name: SettingName): string => textOf(settings, changes, name);
  const problemOf = (place: string): IProblem | null =>
    wrong === place ? problem : null;
  const field = (name: SettingName, label: string): IFieldProps => ({
    label,
    origin: settings.settings[name]?.origin ?? 'default',
    where: settings.settings[name]?.where,
    line: settings.settings[name]?.line,
    locked: settings.settings[name]?.locked ?? false,
    changed: changes[name] !== undefined,
    problem: problemOf(name),
    onReset: () => set(name, null)
  });
  const save = async (): Promise<void> => {
    setSaving(true);
    setProblem(null);
    setWrong(null);
    try {
      await model.saveSettings(toChange(changes), secrets, setSecrets);
      setChanges({});
      setSaved(true);
    } catch (error) {
      if (error instanceof SecretRefused) {
        const { place, reason } = error;
        setProblem(
          reason ? problemText(trans, reason) : secretNameProblem(trans)
        );
        setWrong(place);
      } else {
        setProblem(problemText(trans, error));
        if (error instanceof ApiError && error.field in changes) {
          setWrong(error.field);
        }
      }
    }
    setSaving(false);
  };

  const changeSecrets = (draft: ISecretsDraft): void => {
    setSaved(false);
    setSecrets(draft);
  };
  const secretField = (
    name: string,
    label: string,
    note?: ReactNode
  ): JSX.Element => (
    <SecretField
      name={name}
      label={label}
      settings={settings}
      value={secrets.changed[name]}
      problem={problemOf(name)}
      onChange={value => changeSecrets(withChanged(secrets, name, value))}
    >
      {note}
    </SecretField>
  );
  const own = ownSecrets(settings);
  const others = settings.secrets
    .filter(secret => !own.includes(secret))
    .map(({ name }) => name)
    .filter(name => name !== API_KEY && name !== GATEWAY_TOKEN);
  const chosen = model.models.find(({ name }) => name === value('model'));
  return (
    <form
      noValidate
      className="jp-OpenHands-settings"
      aria-label={trans.__('Settings')}
      onSubmit={event => {
        event.preventDefault();
        void save();
      }}
    >
      <h2>{trans.__('Settings')}</h2>
      <ConfigProblems settings={settings} />
      <Field {...field('model', trans.__('Model'))}>
        {(id, disabled) => (
          <>
            <input
              id={id}
              className="jp-OpenHands-input"
              list={choices}
              value={value('model')}
              disabled={disabled}
              spellCheck={false}
              autoComplete="off"
              onChange={event => set('model', event.target.value)}
            />
            <datalist id={choices}>
              {model.models.map(({ name, label, local }) => (
                <option key={name} value={name}>
                  {local ? trans.__('%1 (on this computer)', label) : label}
                </option>
              ))}
            </datalist>
            {chosen && (
              <p className="jp-OpenHands-quiet">
                {chosen.label}
                {chosen.local && ` ${trans.__('(on this computer)')}`}
                {chosen.hint && `. ${adviceText(trans, chosen.hint)}`}
              </p>
            )}
          </>
        )}
      </Field>
      {secretField(
        API_KEY,
        trans.__('API key'),
        others.length > 0 && (
          <p className="jp-OpenHands-quiet">
            {trans.__(
              'Keys of single providers that are known: %1',
              others.join(', ')
            )}
          </p>
        )
      )}
      <Field {...field('base_url', trans.__('Address of the model server'))}>
        {(id, disabled, description) => (
          <input
            id={id}
            className="jp-OpenHands-input"
            type="url"
            value={value('base_url')}
            disabled={disabled}
            aria-invalid={description !== undefined}
            aria-describedby={description}
            placeholder={trans.__('The provider’s own')}
            onChange={event => set('base_url', event.target.value || null)}
          />
        )}
      </Field>
      <ModelTest
        unsaved={changes.model !== undefined || changes.base_url !== undefined}
      />
      <Field {...field('vision', modelSettingText(trans, 'vision'))}>
        {(id, disabled) => (
          <select
            id={id}
            className="jp-OpenHands-input"
            value={value('vision')}
            disabled={disabled}
            onChange={event => set('vision', event.target.value)}
          >
            <option value="auto">
              {trans.__('If it is known to see images')}
            </option>
            <option value="on">{trans.__('Always')}</option>
            <option value="off">{trans.__('Never')}</option>
          </select>
        )}
      </Field>
      <ModelFields field={field} value={value} set={set} />
      <BeginningFields field={field} value={value} set={set} />
      <IsolationFields
        field={field}
        value={value}
        set={set}
        keptImage={String(settings.settings.docker_image?.value ?? '')}
        token={secretField(
          GATEWAY_TOKEN,
          trans.__('Token of the remote server')
        )}
      />
      <LimitFields field={field} value={value} set={set} />
      <EnvironmentFields
        field={field}
        value={value}
        set={set}
        kept={String(settings.settings.requirements?.value ?? '')}
      />
      <NetworkFields field={field} value={value} set={set} />
      <SecretFields
        settings={settings}
        draft={secrets}
        problem={problemOf}
        onChange={changeSecrets}
      />
      <McpServers />
      {problem && wrong === null && <Problem error={problem} />}
      <div className="jp-OpenHands-buttons">
        <span className="jp-OpenHands-quiet" role="status">
          {saved && trans.__('Saved')}
        </span>
        <button
          type="button"
          className="jp-OpenHands-button"
          onClick={() => model.show('session')}
        >
          {trans.__('Close')}
        </button>
        <button
          type="submit"
          className="jp-OpenHands-button jp-mod-accept"
          disabled={saving}
        >
          {trans.__('Save')}
        </button>
      </div>
    </form>
  );
}
