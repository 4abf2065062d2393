import type { TranslationBundle } from '@jupyterlab/translation';
import { revealHidden } from '../model/inert';
import type { SessionModel } from '../model/session';
import {
  agentText,
  describeAction,
  refusalText,
  riskText,
  stateText
} from '../model/texts';
import { useObservable, useServices } from './services';

/**
 * Characters of a message that are read out; the rest stands in the timeline.
 */
const LONGEST = 500;

/**
 * Tells screen readers what happens: one sentence a step, not every word that is written.
 */
export function Announcer({ session }: { session: SessionModel }): JSX.Element {
  const { trans } = useServices();
  useObservable(session);
  return (
    <div
      className="jp-OpenHands-visuallyHidden"
      role="status"
      aria-live="polite"
    >
      {sentence(trans, session)}
    </div>
  );
}

function sentence(trans: TranslationBundle, session: SessionModel): string {
  const { pending, timeline } = session;
  if (pending) {
    const { verb, object } = describeAction(trans, pending.action);
    const risk = pending.action.risk;
    return trans.__(
      'The agent asks for approval: %1 %2. %3',
      verb,
      object,
      risk ? riskText(trans, risk.level) : ''
    );
  }
  const last = timeline.items[timeline.items.length - 1];
  if (session.info.state === 'running' && last?.kind === 'action') {
    const { verb, object } = describeAction(trans, last.action);
    return `${verb} ${object}`;
  }
  if (last?.kind === 'delegate' && last.result === null) {
    const agent = agentText(trans, last.action.agent);
    return trans.__('%1 begins to work on a task', agent);
  }
  if (last?.kind === 'refused') {
    return refusalText(trans, last.refused).message;
  }
  if (last?.kind === 'message') {
    const { content } = last.action;
    const said = revealHidden(content.slice(0, LONGEST));
    return timeline.question
      ? trans.__('The agent asks: %1', said)
      : trans.__('The agent answers: %1', said);
  }
  return stateText(trans, session.info.state);
}
