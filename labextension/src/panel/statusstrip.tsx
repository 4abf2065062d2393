import { TOUR } from '../model/client';
import type { IsolationObservation } from '../model/events';
import type { INetworkInfo } from '../model/frames';
import { awaitsNetwork } from '../model/network';
import { extensionText, reachedLimits } from '../model/limits';
import type { SessionModel } from '../model/session';
import { agentText, isolationText, stateText } from '../model/texts';
import { EnvironmentDetails } from './environment';
import { Limits } from './limits';
import { NetworkDetails } from './network';
import { Popover } from './popover';
import { useObservable, useServices } from './services';
import { Waiting } from './waiting';

/**
 * The state of the session in words: agent, model, steps, isolation, connection.
 */
export function StatusStrip(): JSX.Element {
  const { model, trans } = useServices();
  useObservable(model);
  useObservable(model.current);
  const session = model.current;
  const name = session?.info.model ?? model.settings?.settings.model?.value;
  return (
    <div
      className="jp-OpenHands-status"
      role="group"
      aria-label={trans.__('Status')}
    >
      {session && <State session={session} />}
      {name && (
        <button
          type="button"
          className="jp-OpenHands-statusItem"
          title={trans.__('Model: %1. Click to change it.', String(name))}
          onClick={() => model.show('settings')}
        >
          {modelLabel(String(name), trans.__('Guided tour (no AI)'))}
        </button>
      )}
      {session && <Limits session={session} />}
      {session?.info.isolation && (
        <Isolation
          session={session}
          isolation={session.info.isolation}
          network={session.info.network}
        />
      )}
      {session?.info.asleep && (
        <span
          className="jp-OpenHands-statusItem"
          title={trans.__(
            'The sandbox was released; its variables and processes are gone. The next action starts another one.'
          )}
        >
          {trans.__('Sandbox asleep')}
        </span>
      )}
      {session && <Connection session={session} />}
    </div>
  );
}

function State({ session }: { session: SessionModel }): JSX.Element {
  const { model, trans } = useServices();
  const { agent, delegates, state } = session.info;
  const [reached] = reachedLimits(session.info);
  const working = state === 'running' || state === 'loading';
  return (
    <>
      <span
        className={`jp-OpenHands-statusItem jp-OpenHands-state jp-mod-${state.replaceAll('_', '-')}`}
      >
        {working && (
          <span className="jp-OpenHands-spinner" aria-hidden="true" />
        )}
        {stateText(trans, state, session.timeline.question)}
      </span>
      {state === 'rate_limited' && <Waiting until={session.timeline.retryAt} />}
      {delegates.length > 0 && (
        <span className="jp-OpenHands-statusItem">
          {trans.__(
            '%1 is at work for %2',
            agentText(trans, delegates[delegates.length - 1]),
            agentText(trans, [agent, ...delegates][delegates.length - 1])
          )}
        </span>
      )}
      {(state === 'paused' || state === 'error') && (
        <button
          type="button"
          className="jp-OpenHands-statusItem jp-OpenHands-resume"
          onClick={() => void model.resume()}
        >
          {state === 'error'
            ? trans.__('Try again')
            : reached
              ? extensionText(trans, reached)
              : trans.__('Run')}
        </button>
      )}
    </>
  );
}

function Isolation(props: {
  session: SessionModel;
  isolation: IsolationObservation;
  network: INetworkInfo | null;
}): JSX.Element {
  const { session, isolation, network } = props;
  const { model, trans } = useServices();
  const text = isolationText(trans, isolation.level);
  return (
    <Popover
      label={trans.__('Isolation')}
      side="above"
      buttonClass={`jp-OpenHands-isolation jp-mod-${isolation.level}`}
      buttonTitle={isolation.summary}
      button={text}
    >
      {() => (
        <div className="jp-OpenHands-isolationDetails">
          <h3>{text}</h3>
          <p>{isolation.summary}</p>
          {isolation.notice && <p>{isolation.notice}</p>}
          {network && <NetworkDetails network={network} />}
          {awaitsNetwork(model.settings, isolation) && (
            <p>
              {trans.__(
                'The network is switched on. The sandbox that you get with your next message has it, if nothing runs in this one then.'
              )}
            </p>
          )}
          <EnvironmentDetails session={session} />
          {isolation.missing && isolation.missing.length > 0 && (
            <>
              <h4>{trans.__('Not enforced')}</h4>
              <ul>
                {isolation.missing.map(what => (
                  <li key={what}>{what}</li>
                ))}
              </ul>
            </>
          )}
          {isolation.checks && isolation.checks.length > 0 && (
            <>
              <h4>{trans.__('Tried from within the sandbox')}</h4>
              <ul>
                {isolation.checks.map(check => (
                  <li key={check.name}>
                    <strong>
                      {check.held
                        ? trans.__('Blocked:')
                        : trans.__('Not blocked:')}
                    </strong>{' '}
                    {check.name}
                    {check.detail && ` (${check.detail})`}
                  </li>
                ))}
              </ul>
            </>
          )}
        </div>
      )}
    </Popover>
  );
}

function Connection({
  session
}: {
  session: SessionModel;
}): JSX.Element | null {
  const { trans } = useServices();
  switch (session.connection) {
    case 'connected':
      return null;
    case 'connecting':
      return (
        <span className="jp-OpenHands-statusItem jp-OpenHands-connection">
          {trans.__('Connecting…')}
        </span>
      );
    case 'offline':
      return (
        <button
          type="button"
          className="jp-OpenHands-statusItem jp-OpenHands-connection jp-mod-offline"
          title={trans.__(
            'The agent goes on without this page. Click to try again now.'
          )}
          onClick={() => session.wake()}
        >
          {trans.__('Offline')}
        </button>
      );
  }
}

function modelLabel(name: string, tour: string): string {
  return name === TOUR ? tour : name.slice(name.lastIndexOf('/') + 1);
}
