import { SessionState } from '../info';
import {
  agentMessage,
  command,
  log,
  output,
  sessionInfo,
  state
} from './samples';

describe('SessionState', () => {
  let session: SessionState;

  beforeEach(() => {
    session = new SessionState(sessionInfo({ last_id: 4, steps: 1 }));
  });

  it('follows the events', () => {
    const tasks = [{ title: 'a', status: 'done' }];
    log(5, state('finished'), {
      type: 'TaskTrackingAction',
      source: 'agent',
      tasks
    }).forEach(event => session.apply(event));
    expect(session.info).toMatchObject({
      state: 'finished',
      plan: tasks,
      last_id: 6
    });
  });

  it('knows whether a command was left running', () => {
    const running = {
      type: 'CmdOutputObservation',
      content: '',
      running: true
    };
    const isRunning = (...events: object[]): boolean => {
      log(session.info.last_id + 1, ...events).forEach(event =>
        session.apply(event)
      );
      return session.info.command_running;
    };
    expect(isRunning(running)).toBe(true);
    expect(isRunning(state('finished'))).toBe(true);
    expect(isRunning(output(5))).toBe(false);
    expect(isRunning(running, state('stopped'))).toBe(false);
  });

  it('lets no answer that was overtaken undo what came meanwhile', () => {
    log(5, state('finished')).forEach(event => session.apply(event));
    session.setAnswered(sessionInfo({ state: 'running', last_id: 4 }));
    expect(session.info.state).toBe('finished');
    session.setAnswered(sessionInfo({ state: 'paused', last_id: 5 }));
    expect(session.info.state).toBe('paused');
  });

  it('lets no old event undo what the server said', () => {
    session.set(sessionInfo({ state: 'running', last_id: 9, steps: 3 }));
    log(8, state('finished'), command('ls')).forEach(event =>
      session.apply(event)
    );
    expect(session.info).toMatchObject({
      state: 'running',
      last_id: 9,
      steps: 3
    });
  });

  it('counts all that comes of one model response as one step', () => {
    const from = (response_id: string): object => ({ llm: { response_id } });
    log(
      5,
      { ...command('a'), ...from('r1') },
      { ...command('b'), ...from('r1') },
      { type: 'SystemMessageAction', source: 'agent', content: '' },
      state('running'),
      { ...command('c'), ...from('r2') },
      agentMessage('no model'),
      agentMessage('no model')
    ).forEach(event => session.apply(event));
    expect(session.info.steps).toBe(1 + 4);
  });

  it('knows that a step goes on which began before', () => {
    const from = { llm: { response_id: 'r1' } };
    log(4, { ...command('a'), ...from }, { ...command('b'), ...from }).forEach(
      event => session.apply(event)
    );
    expect(session.info.steps).toBe(1);
  });
});
