import { useEffect, useState } from 'react';
import { useServices } from './services';

/**
 * The seconds until the model is asked again, and a button to do it now.
 */
export function Waiting({ until }: { until: number | null }): JSX.Element {
  const { model, trans } = useServices();
  const seconds = useSecondsUntil(until);
  return (
    <>
      {seconds !== null && (
        // The row in the timeline tells it once; a number that changes would be read out again.
        <span className="jp-OpenHands-statusItem" aria-hidden="true">
          {trans.__('Again in %1 s', seconds)}
        </span>
      )}
      <button
        type="button"
        className="jp-OpenHands-statusItem jp-OpenHands-resume"
        onClick={() => void model.resume()}
      >
        {trans.__('Try now')}
      </button>
    </>
  );
}

function useSecondsUntil(until: number | null): number | null {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return until === null ? null : Math.max(0, Math.ceil((until - now) / 1000));
}
