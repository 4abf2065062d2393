import type { HookObservation } from '../model/events';
import { hookText } from '../model/hooktexts';
import { revealHidden, revealOnOneLine } from '../model/inert';
import { Fold } from './fold';
import { useServices } from './services';

/**
 * What a hook of the person's did, and why; its command when it is opened.
 */
export function HookRow(props: { event: HookObservation }): JSX.Element {
  const { trans } = useServices();
  const { event } = props;
  return (
    <Fold
      summary={hookText(trans, event)}
      className={`jp-mod-note ${event.outcome === 'told' ? '' : 'jp-mod-amber'}`}
    >
      {event.content && (
        <p className="jp-OpenHands-userText">{revealHidden(event.content)}</p>
      )}
      <p className="jp-OpenHands-quiet">{revealOnOneLine(event.command)}</p>
    </Fold>
  );
}
