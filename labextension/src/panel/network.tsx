import { useState } from 'react';
import type { INetworkInfo } from '../model/frames';
import type { IRefusedItem } from '../model/items';
import { canAllow, placeText } from '../model/network';
import type { Access, IPlace } from '../model/network';
import { refusalText } from '../model/texts';
import { useObservable, useServices } from './services';

/**
 * A place that the sandbox wanted to reach and could not, and the person's answer.
 */
export function Refused({ item }: { item: IRefusedItem }): JSX.Element {
  const { model, trans } = useServices();
  useObservable(model.current);
  const [busy, setBusy] = useState(false);
  const { refused, answer } = item;
  const { message, hint } = refusalText(trans, refused);
  const network = model.current?.info.network ?? null;
  const place = placeText(refused);
  const asks =
    refused.reason === 'not_listed' &&
    answer === null &&
    canAllow(network, refused);

  const allow = async (access: Access): Promise<void> => {
    setBusy(true);
    await model.changeAccess(refused, access);
    setBusy(false);
  };

  return (
    <article
      className="jp-OpenHands-refused"
      aria-label={trans.__('Refused: %1', place)}
    >
      <p>
        {message} {hint}
      </p>
      {refused.reason === 'not_listed' && !asks && (
        <p className="jp-OpenHands-quiet">
          <Answered answer={answer} network={network} place={refused} />
        </p>
      )}
      {asks && (
        <div className="jp-OpenHands-refusedButtons">
          <button
            type="button"
            className="jp-OpenHands-button"
            disabled={busy}
            title={trans.__(
              'Until the agent’s next command, cell or fetch has ended'
            )}
            onClick={() => void allow('once')}
          >
            {trans.__('Allow once')}
          </button>
          <button
            type="button"
            className="jp-OpenHands-button"
            disabled={busy}
            onClick={() => void allow('session')}
          >
            {trans.__('Allow for this session')}
          </button>
        </div>
      )}
    </article>
  );
}

function Answered(props: {
  answer: IRefusedItem['answer'];
  network: INetworkInfo | null;
  place: IPlace;
}): JSX.Element {
  const { answer, network, place } = props;
  const { trans } = useServices();
  switch (answer) {
    case 'once':
      return (
        <>
          {trans.__(
            'You allowed it for the next command. Let the agent try again.'
          )}
        </>
      );
    case 'session':
      return (
        <>
          {trans.__(
            'You allowed it for this session. Let the agent try again.'
          )}
        </>
      );
    case null:
      break;
  }
  if (network?.places.includes(placeText(place))) {
    return <>{trans.__('It is allowed now.')}</>;
  }
  return network?.fixed && network.places.length > 0 ? (
    <>{trans.__('The administrator has fixed which hosts are allowed.')}</>
  ) : (
    <>{trans.__('The network of this session is off.')}</>
  );
}

/**
 * What the sandbox may reach, and what of it the person allowed in this session.
 */
export function NetworkDetails(props: { network: INetworkInfo }): JSX.Element {
  const { places, allowed, fixed } = props.network;
  const { model, trans } = useServices();
  return (
    <>
      <h4>{trans.__('Network')}</h4>
      {places.length > 0 ? (
        <p>{trans.__('Allowed: %1', places.join(', '))}</p>
      ) : (
        <p>{trans.__('Nothing is allowed.')}</p>
      )}
      {!fixed && (
        <p className="jp-OpenHands-quiet">
          {trans.__(
            'What the agent tries to reach beyond that is shown in the timeline, where you can allow it.'
          )}
        </p>
      )}
      {allowed.length > 0 && (
        <ul className="jp-OpenHands-allowed">
          {allowed.map(place => (
            <li key={placeText(place)}>
              <span className="jp-OpenHands-path">{placeText(place)}</span>{' '}
              <span className="jp-OpenHands-quiet">
                {place.access === 'once'
                  ? trans.__('for the next command')
                  : trans.__('for this session')}
              </span>
              <button
                type="button"
                className="jp-OpenHands-textButton"
                aria-label={trans.__('Revoke %1', placeText(place))}
                onClick={() => void model.changeAccess(place, 'revoked')}
              >
                {trans.__('Revoke')}
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
