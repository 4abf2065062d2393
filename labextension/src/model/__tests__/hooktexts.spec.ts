import type { HookObservation } from '../events';
import { hookText } from '../hooktexts';
import { Timeline } from '../timeline';
import { command, log, userMessage } from './samples';
import { trans } from './translation';

const blocked: HookObservation = {
  type: 'HookObservation',
  event: 'PreToolUse',
  command: 'check',
  outcome: 'blocked',
  tool: 'execute_bash'
};

it.each([
  [{}, 'Blocked by your hook (PreToolUse, execute_bash)'],
  [{ event: 'Stop', tool: '' }, 'Your hook has the agent go on (Stop)'],
  [
    { outcome: 'asked', tool: 'a\u202e' },
    'Your hook wants you to decide (PreToolUse, a⟨U+202E⟩)'
  ],
  [
    { outcome: 'told', tool: '' },
    'Your hook told the agent something (PreToolUse)'
  ],
  [{ outcome: 'failed', tool: '' }, 'Your hook failed (PreToolUse)'],
  [{ outcome: 'ignored' }, 'Hooks of the workspace are not run']
])('says what came of %j', (change, text) => {
  const event = { ...blocked, ...(change as Partial<HookObservation>) };
  expect(hookText(trans, event)).toBe(text);
});

it('has a row of its own and answers no action', () => {
  const timeline = new Timeline();
  timeline.append(
    log(0, userMessage('go'), command('ls'), { ...blocked, cause: 1 })
  );
  expect(timeline.items.map(item => item.kind)).toEqual([
    'user',
    'action',
    'hook'
  ]);
  expect(timeline.action(1)?.result).toBeNull();
});
