import type { ChangeSettingsAction, StuckObservation } from '../events';
import type { ISessionInfo } from '../frames';
import { SessionState } from '../info';
import {
  extensionOf,
  extensionText,
  loopText,
  newLimitsText,
  reachedLimits,
  usedText
} from '../limits';
import type { ILimitUse } from '../limits';
import { log, sessionInfo } from './samples';
import { trans } from './translation';

const taken = (
  limit: ILimitUse['limit'],
  used: number,
  allowed: number,
  extended: number
): ILimitUse => ({ limit, used, allowed, extended });

const info = (change: Partial<ISessionInfo> = {}): ISessionInfo =>
  sessionInfo({
    state: 'paused',
    steps: 12,
    step_limit: 100,
    limits: [
      taken('steps', 12, 100, 62),
      taken('cost', 5.01, 5, 7.52),
      taken('tokens', 900_000, 0, 900_000),
      taken('time', 30.2, 30, 46)
    ],
    ...change
  });

const stuck: StuckObservation = {
  type: 'StuckObservation',
  pattern: 'cycle',
  first: 7,
  times: 3,
  length: 2,
  stopped: true
};

test('one click extends all that is used up, and nothing else', () => {
  expect(reachedLimits(info()).map(({ limit }) => limit)).toEqual([
    'cost',
    'time'
  ]);
  expect(extensionOf(info())).toEqual({ cost_limit: 7.52, time_limit: 46 });
  expect(extensionOf(info({ limits: [] }))).toBeNull();
  expect(extensionOf(info({ state: 'rate_limited' }))).toBeNull();
});

test('steps are counted by the events, which come before the server speaks', () => {
  const limits = [taken('steps', 99, 100, 150)];
  expect(extensionOf(info({ limits }))).toBeNull();
  expect(extensionOf(info({ limits, steps: 100 }))).toEqual({
    step_limit: 150
  });
});

test('limits are told in their units', () => {
  expect(extensionText(trans, taken('steps', 100, 100, 150))).toBe(
    'Run 50 more steps'
  );
  expect(extensionText(trans, taken('cost', 5.01, 5, 7.52))).toBe(
    'Run for $2.51 more'
  );
  expect(extensionText(trans, taken('tokens', 9, 6, 5_009))).toBe(
    'Run for 5,000 more tokens'
  );
  expect(usedText(trans, taken('cost', 4, 5, 0))).toBe('Cost: $4.00 of $5.00');
  expect(usedText(trans, taken('tokens', 4_000, 0, 0))).toBe('Tokens: 4,000');
  const change: ChangeSettingsAction = {
    type: 'ChangeSettingsAction',
    cost_limit: 0,
    token_limit: 5_000
  };
  expect(newLimitsText(trans, change)).toBe(
    'US dollars: no limit. Tokens: at most 5,000.'
  );
});

test('a loop is told, and forgotten when the agent goes on', () => {
  expect(loopText(trans, stuck)).toBe(
    'The same 2 steps were done 3 times in turn.'
  );
  const state = new SessionState(sessionInfo());
  const paused = { type: 'AgentStateChangedObservation', state: 'paused' };
  const [first, ...rest] = log(0, stuck, paused, {
    ...paused,
    state: 'running'
  });
  state.apply(first);
  state.apply(rest[0]);
  expect(state.info.stuck).toMatchObject({ first: 7 });
  state.apply(rest[1]);
  expect(state.info.stuck).toBeNull();
});
