import { useContext } from 'react';
import type { CondensationAction, QuarantineAction } from '../model/events';
import { condensationText, quarantineText } from '../model/memorytexts';
import { Fold } from './fold';
import { GoTo } from './goto';
import { useServices } from './services';

/**
 * What the model is no longer shown of the session, and what it is told in its place.
 */
export function Condensation(props: {
  event: CondensationAction;
}): JSX.Element {
  const { trans } = useServices();
  return (
    <Fold
      summary={condensationText(trans, props.event)}
      className="jp-mod-note"
    >
      <p className="jp-OpenHands-quiet">
        {trans.__('You still see everything here, and an export has it.')}
      </p>
      {props.event.summary && (
        <p className="jp-OpenHands-userText">{props.event.summary}</p>
      )}
    </Fold>
  );
}

/**
 * What the model is no longer shown because its provider did not accept it, and why.
 */
export function Quarantine(props: { event: QuarantineAction }): JSX.Element {
  const { trans } = useServices();
  const goTo = useContext(GoTo);
  return (
    <Fold summary={quarantineText(trans, props.event)} className="jp-mod-note">
      <p className="jp-OpenHands-quiet">{props.event.message}</p>
      {goTo &&
        props.event.items.map(event => (
          <button
            key={event}
            type="button"
            className="jp-OpenHands-textButton"
            onClick={() => goTo(event)}
          >
            {trans.__('Show event %1', event)}
          </button>
        ))}
    </Fold>
  );
}
