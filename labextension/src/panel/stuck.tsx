import type { RefObject } from 'react';
import { useId } from 'react';
import type { StuckObservation } from '../model/events';
import { loopText } from '../model/limits';
import { useRewind } from './restores';
import { useServices } from './services';

/**
 * The agent was stopped in a loop: what it did, and the ways on.
 */
export function StuckCard(props: {
  session: string;
  stuck: StuckObservation;
  /** Where a hint is typed. */
  input: RefObject<HTMLTextAreaElement>;
}): JSX.Element {
  const { session, stuck, input } = props;
  const { model, trans } = useServices();
  const rewind = useRewind(session, stuck.first);
  const heading = useId();
  return (
    <section className="jp-OpenHands-stuck" aria-labelledby={heading}>
      <h3 id={heading}>{trans.__('The agent got stuck')}</h3>
      <p>
        {loopText(trans, stuck)}{' '}
        {trans.__('It was told, and that did not help.')}
      </p>
      <div className="jp-OpenHands-buttons">
        <button type="button" className="jp-OpenHands-button" onClick={rewind}>
          {trans.__('Go back to before the loop…')}
        </button>
        <button
          type="button"
          className="jp-OpenHands-button jp-mod-accept"
          onClick={() => input.current?.focus()}
        >
          {trans.__('Give it a hint')}
        </button>
        <button
          type="button"
          className="jp-OpenHands-button"
          onClick={() => void model.stop()}
        >
          {trans.__('Stop')}
        </button>
      </div>
    </section>
  );
}
