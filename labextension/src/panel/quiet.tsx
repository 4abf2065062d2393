import { useEffect, useState } from 'react';
import type { SessionModel } from '../model/session';
import {
  isQuiet,
  missesEvents,
  quietText,
  serviceText
} from '../model/diagnosis';
import type { IDiagnosis } from '../model/diagnosis';
import { useObservable, useServices } from './services';

/**
 * Milliseconds between two looks at the clock.
 */
const LOOK = 5_000;

/**
 * A quiet line when nothing new comes from an agent that works, and what it waits for on demand.
 */
export function Quiet({
  session
}: {
  session: SessionModel;
}): JSX.Element | null {
  const { model, trans } = useServices();
  useObservable(session);
  const now = useClock();
  const [asked, setAsked] = useState<{
    diagnosis: IDiagnosis;
    newsAt: number;
  } | null>(null);
  const { newsAt } = session;
  if (!isQuiet(session.info.state, newsAt, now)) {
    return null;
  }
  const ask = async (): Promise<void> => {
    const diagnosis = await model.attempt(() =>
      model.client.diagnosis(session.id)
    );
    if (!diagnosis) {
      return;
    }
    setAsked({ diagnosis, newsAt });
    if (missesEvents(diagnosis, session.timeline.lastId)) {
      session.wake();
    }
  };
  // What was said before the last news is of no use any more.
  const diagnosis = asked?.newsAt === newsAt ? asked.diagnosis : null;
  return (
    <div className="jp-OpenHands-quietLine">
      <span>{quietText(trans, newsAt, now)}</span>
      <button
        type="button"
        className="jp-OpenHands-textButton"
        onClick={() => void ask()}
      >
        {trans.__('What is it waiting for?')}
      </button>
      <div role="status">
        {diagnosis && (
          <Told
            diagnosis={diagnosis}
            missed={missesEvents(diagnosis, session.timeline.lastId)}
          />
        )}
      </div>
    </div>
  );
}

function Told(props: { diagnosis: IDiagnosis; missed: boolean }): JSX.Element {
  const { diagnosis, missed } = props;
  const { trans } = useServices();
  const { waits_for, summary, hint, processes } = diagnosis;
  return (
    <>
      {missed && (
        <p>
          {trans.__(
            'The server has gone on, but this page was not told. It connects anew; if nothing comes then, reload the page.'
          )}
        </p>
      )}
      <p>
        <strong>{serviceText(trans, waits_for)}</strong> {summary} {hint}
      </p>
      {processes.length > 0 && (
        <p>{trans.__('Programs that run: %1', processes.join(', '))}</p>
      )}
    </>
  );
}

function useClock(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), LOOK);
    return () => clearInterval(timer);
  }, []);
  return now;
}
