import type { TimelineItem } from '../model/items';

/**
 * The rows of a session that belong to one message: those after it, until the next message that
 * came when its turn was over.
 *
 * @param end - Id of the event that ended the turn; null while it goes on.
 */
export function stepsOf(
  items: readonly TimelineItem[],
  message: number,
  end: number | null
): TimelineItem[] {
  const first = items.findIndex(item => item.id > message);
  if (first < 0) {
    return [];
  }
  const next =
    end === null
      ? -1
      : items.findIndex(item => item.kind === 'user' && item.id > end);
  // What the task was answered with is shown as its answer.
  const rows = items.slice(first, next < 0 ? undefined : next);
  const steps = rows.filter(({ kind }) => kind !== 'finish');
  const [said] = steps.filter(({ kind }) => kind === 'message').slice(-1);
  return end === null || steps.length < rows.length
    ? steps
    : steps.filter(step => step !== said);
}
