import { useEffect, useState } from 'react';
import { secretsForSandbox, withSecret } from '../model/environment';
import type { SessionModel } from '../model/session';
import { megabytes } from '../model/texts';
import { useObservable, useServices } from './services';

/**
 * The Python of a session's sandbox, what was installed in it, and the secrets that it may have.
 */
export function EnvironmentDetails({
  session
}: {
  session: SessionModel;
}): JSX.Element {
  const { trans } = useServices();
  useObservable(session);
  const { isolation } = session.info;
  return (
    <>
      {isolation?.python && (
        <>
          <h4>{trans.__('Environment')}</h4>
          <p>{isolation.python}</p>
          {isolation.packages && <Packages session={session} />}
        </>
      )}
      <Secrets session={session} />
    </>
  );
}

function Packages({ session }: { session: SessionModel }): JSX.Element | null {
  const { model, trans } = useServices();
  const [size, setSize] = useState<number | null>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    let wanted = true;
    void model.client.packagesSize(session.id).then(
      found => wanted && setSize(found),
      // It is not known then, and nothing depends on it.
      () => undefined
    );
    return () => {
      wanted = false;
    };
  }, [model, session]);
  const remove = async (): Promise<void> => {
    setBusy(true);
    if (await model.removePackages(session.id)) {
      setSize(0);
    }
    setBusy(false);
  };
  return size === null ? null : (
    <p>
      {trans.__('Installed by the agent: %1 MB', megabytes(size))}{' '}
      {size > 0 && (
        <button
          type="button"
          className="jp-OpenHands-textButton"
          disabled={busy || session.busy}
          title={trans.__('The next action then gets a new sandbox.')}
          onClick={() => void remove()}
        >
          {trans.__('Remove installed packages')}
        </button>
      )}
    </p>
  );
}

function Secrets({ session }: { session: SessionModel }): JSX.Element | null {
  const { model, trans } = useServices();
  useObservable(model);
  const [busy, setBusy] = useState(false);
  const { secrets } = session.info;
  const offered = secretsForSandbox(model.settings);
  const names = [...new Set([...offered, ...secrets])].sort();
  if (names.length === 0) {
    return null;
  }
  const allow = async (name: string, allowed: boolean): Promise<void> => {
    setBusy(true);
    await model.allowSecrets(session.id, withSecret(secrets, name, allowed));
    setBusy(false);
  };
  return (
    <fieldset className="jp-OpenHands-secrets">
      <legend>{trans.__('Secrets the agent’s code may have')}</legend>
      {names.map(name => (
        <label key={name}>
          <input
            type="checkbox"
            checked={secrets.includes(name)}
            disabled={busy}
            onChange={event => void allow(name, event.target.checked)}
          />{' '}
          {name}
        </label>
      ))}
      <p className="jp-OpenHands-quiet">
        {trans.__(
          'A change counts from the next action on, which gets a new sandbox: variables and processes are gone.'
        )}
      </p>
    </fieldset>
  );
}
