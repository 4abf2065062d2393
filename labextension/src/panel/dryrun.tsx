import { useId } from 'react';
import type { IDryRun } from '../model/items';
import { runStateText } from '../model/runtexts';
import { CellResults } from './cellruns';
import { TerminalText } from './mime';
import { Problem } from './problem';
import { useServices } from './services';

/**
 * What came so far of what waits for approval, tried in the sandbox.
 */
export function DryRun(props: {
  session: string;
  dryRun: IDryRun;
  /** Whether the person has chosen otherwise since. */
  outdated?: boolean;
  /** Output so far, while it runs. */
  liveOutput?: string | null;
}): JSX.Element {
  const { session, dryRun, outdated = false, liveOutput = null } = props;
  const { result } = dryRun;
  const { trans } = useServices();
  const heading = useId();
  const state =
    result?.type === 'NotebookRunObservation'
      ? runStateText(trans, result)
      : result
        ? trans.__('Not tried')
        : trans.__('Running…');
  return (
    <section className="jp-OpenHands-dryRun" aria-labelledby={heading}>
      <h4 id={heading}>
        {trans.__('Tried in the sandbox')}: <span role="status">{state}</span>
      </h4>
      {outdated && (
        <p className="jp-OpenHands-outdated">
          {trans.__(
            'You have chosen otherwise since: this is not what you would approve now.'
          )}
        </p>
      )}
      <p className="jp-OpenHands-quiet">
        {trans.__(
          'In the sandbox’s kernel, which has none of the notebook’s variables. The notebook stays as it is, and the agent is not told.'
        )}
      </p>
      {result === null && liveOutput !== null && (
        <div className="jp-OpenHands-terminal">
          <TerminalText text={liveOutput} />
        </div>
      )}
      {result?.type === 'NotebookRunObservation' && (
        <CellResults session={session} result={result} tried />
      )}
      {result?.type === 'ErrorObservation' && <Problem error={result} />}
    </section>
  );
}
