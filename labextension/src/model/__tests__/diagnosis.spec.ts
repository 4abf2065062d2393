import {
  isQuiet,
  missesEvents,
  QUIET_AFTER,
  quietText,
  serviceText
} from '../diagnosis';
import type { IDiagnosis } from '../diagnosis';
import { trans } from './translation';

const diagnosis: IDiagnosis = {
  waits_for: 'sandbox',
  seconds: 30,
  summary: 'A command or a cell runs in the sandbox.',
  hint: '',
  processes: ['sleep'],
  last_id: 7
};

test('only a session at work is quiet, and only after a while', () => {
  expect(isQuiet('running', 1000, 1000 + QUIET_AFTER)).toBe(true);
  expect(isQuiet('running', 1001, 1000 + QUIET_AFTER)).toBe(false);
  for (const state of ['paused', 'awaiting_user_confirmation'] as const) {
    expect(isQuiet(state, 0, 10 * QUIET_AFTER)).toBe(false);
  }
});

test('how long it was quiet is told', () => {
  expect(quietText(trans, 0, 31_900)).toBe('Nothing new for 31 seconds.');
  expect(quietText(trans, 0, 200_000)).toBe('Nothing new for 3 minutes.');
  expect(serviceText(trans, 'sandbox')).toBe('It waits for the sandbox.');
});

test('a page that has not all events is not told', () => {
  expect(missesEvents(diagnosis, 7)).toBe(false);
  expect(missesEvents(diagnosis, 6)).toBe(true);
});
