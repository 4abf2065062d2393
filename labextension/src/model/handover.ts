/**
 * What a person asks of the agent from a notebook, beside the cell that it is about.
 */
import { TOUR } from './client';
import type { ContextKind, ContextPart } from './context';
import type { AgentState } from './frames';
import type { PanelModel } from './panel';
import type { SessionModel } from './session';

/**
 * States in which a message begins something new, and answers no question for approval.
 */
const WAITING: readonly AgentState[] = [
  'awaiting_user_input',
  'error',
  'finished',
  'rejected',
  'stopped'
];

/**
 * What has to go with the message for the agent to see the error.
 */
const NEEDED: readonly ContextKind[] = ['cell', 'error', 'notebook'];

/**
 * Give the agent a task about a cell: in the open session if it waits, else in a new one.
 *
 * It is sent at once where that is all that the person can want. It is left for them to send where
 * the agent would not see what they see, because they switched it off or no model can be reached;
 * where they have typed something themselves; and where another session is at work, which may be on
 * the same notebook, or waits for the answer to a question. What the open session was asked already, and works on, is not asked again.
 *
 * @param collect - Tells what goes with the message, which may take a moment.
 */
export async function handOver(
  model: PanelModel,
  text: string,
  collect: () => Promise<ContextPart[]>
): Promise<void> {
  const session = model.current;
  const waits =
    !session ||
    (WAITING.includes(session.info.state) && !session.timeline.question);
  if (!waits && lastMessage(session) === text) {
    return;
  }
  if (!waits) {
    model.startNew();
  }
  const asked = model.current;
  const parts =
    waits && seesAll(model) && (await isReachable(model))
      ? await model.attempt(collect)
      : undefined;
  const untouched =
    model.current === asked && !model.draft(asked?.id ?? null).trim();
  model.propose(text);
  if (parts && untouched) {
    await model.sendDraft(parts);
  }
}

function lastMessage({ timeline }: SessionModel): string | undefined {
  return timeline.items.filter(item => item.kind === 'user').at(-1)?.content;
}

function seesAll({ contextOff }: PanelModel): boolean {
  return !NEEDED.some(kind => contextOff.includes(kind));
}

/**
 * Whether a model would answer, as far as the server can tell without asking it.
 */
async function isReachable(model: PanelModel): Promise<boolean> {
  await model.refreshSettings();
  const name =
    model.current?.info.model ?? model.settings?.settings.model?.value;
  return model.models.some(
    known => known.name === name && known.ready && known.name !== TOUR
  );
}
