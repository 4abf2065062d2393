import type { TimelineItem } from '../../model/items';
import { stepsOf } from '../steps';

const rows = (...kinds: TimelineItem['kind'][]): TimelineItem[] =>
  kinds.map((kind, id) => ({ kind, id }) as TimelineItem);

function kinds(items: TimelineItem[], end: number | null): string[] {
  return stepsOf(items, 0, end).map(({ kind }) => kind);
}

test('what the task is answered with is no step too', () => {
  const asked = rows('user', 'message', 'action', 'message');
  expect(kinds(asked, 3)).toEqual(['message', 'action']);
  expect(kinds(asked, null)).toEqual(['message', 'action', 'message']);
  expect(kinds(rows('user', 'message', 'finish'), 2)).toEqual(['message']);
  expect(kinds(rows('user', 'message', 'user', 'action'), 1)).toEqual([]);
});
