import { agentMessage, log } from '../../model/__tests__/samples';
import { Turn } from '../turn';

const state = (name: string, more: object = {}): object => ({
  type: 'AgentStateChangedObservation',
  state: name,
  ...more
});

describe('Turn', () => {
  it('ends with the answer to its own message, not with one before', () => {
    const turn = new Turn(5);
    log(
      6,
      agentMessage('before', 3),
      state('finished'),
      state('running')
    ).forEach(event => turn.apply(event));
    expect(turn.end).toBeNull();
    log(9, agentMessage('after', 8), state('awaiting_user_input')).forEach(
      event => turn.apply(event)
    );
    expect([turn.end, turn.answer, turn.state]).toEqual([
      10,
      'after',
      'awaiting_user_input'
    ]);
    log(11, agentMessage('later', 10)).forEach(event => turn.apply(event));
    expect(turn.answer).toBe('after');
  });

  it('may end before the agent did anything', () => {
    const turn = new Turn(5);
    log(6, state('error', { reason: 'No key.', hint: 'Set one.' })).forEach(
      event => turn.apply(event)
    );
    expect([turn.end, turn.reason]).toEqual([6, 'No key. Set one.']);
  });
});
