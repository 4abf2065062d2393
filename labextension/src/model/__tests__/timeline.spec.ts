import type { AnyEvent } from '../frames';
import { Timeline } from '../timeline';
import type { IActionItem, IRefusedItem, IUserItem } from '../items';
import {
  access,
  agentMessage,
  command,
  log,
  output,
  refusal,
  state,
  userMessage
} from './samples';

function kinds(timeline: Timeline): string[] {
  return timeline.items.map(item => item.kind);
}

describe('Timeline', () => {
  let timeline: Timeline;

  beforeEach(() => {
    timeline = new Timeline();
  });

  it('makes one row of an action and its observation', () => {
    timeline.append(log(0, userMessage('go'), command('ls')));
    const before = timeline.action(1);
    expect(before?.result).toBeNull();
    timeline.append(log(2, output(1, 'a.txt')));
    expect(kinds(timeline)).toEqual(['user', 'action']);
    expect(timeline.action(1)?.result).toMatchObject({ content: 'a.txt' });
    expect(timeline.action(1)).not.toBe(before);
  });

  it('takes the answer to an action for its result, whatever it is', () => {
    timeline.append(
      log(
        0,
        command('a'),
        {
          type: 'ErrorObservation',
          cause: 0,
          code: 'interrupted',
          message: 'x'
        },
        command('b'),
        { type: 'UserRejectObservation', cause: 2, reason: 'no' },
        { type: 'ErrorObservation', cause: 0, code: 'model_auth', message: 'y' }
      )
    );
    expect(kinds(timeline)).toEqual(['action', 'action', 'error']);
    expect(timeline.action(0)?.result?.type).toBe('ErrorObservation');
    expect(timeline.action(2)?.result?.type).toBe('UserRejectObservation');
  });

  it('puts what delegates do below the rows of their tasks', () => {
    const task = { type: 'AgentDelegateAction', source: 'agent', task: 'x' };
    timeline.append(
      log(
        0,
        { ...task, agent: 'readonly' },
        { ...command('ls'), agent_path: [0], thought: 'I look.' },
        { ...output(1, 'a.txt'), agent_path: [0] },
        { ...task, agent: 'codeact', agent_path: [0] },
        userMessage('and b'),
        { type: 'ErrorObservation', cause: 3, code: 'stopped', message: 'x' },
        {
          type: 'FinishAction',
          source: 'agent',
          agent_path: [0],
          message: 'y'
        },
        {
          type: 'AgentDelegateObservation',
          cause: 0,
          agent: 'readonly',
          content: 'y'
        },
        { type: 'FinishAction', source: 'agent', message: 'z' }
      )
    );
    expect(timeline.items.map(item => [item.kind, item.path])).toEqual([
      ['delegate', []],
      ['thought', [0]],
      ['action', [0]],
      ['delegate', [0]],
      ['user', []],
      ['finish', []]
    ]);
    expect(timeline.delegate(0)?.result).toMatchObject({ content: 'y' });
    expect(timeline.delegate(3)?.result).toMatchObject({ code: 'stopped' });
    expect(timeline.firstOpen).toBeNull();
  });

  it('offers the answers to a question until something follows, also after a turn', () => {
    timeline.append(log(0, userMessage('go'), agentMessage('which?')));
    expect(timeline.lastMessage).toBe(1);
    timeline.append(
      log(2, state('finished'), {
        type: 'CheckpointObservation',
        checkpoint: 'b',
        action: 0,
        since: 'a',
        changed: 1
      })
    );
    expect(kinds(timeline)).toEqual(['user', 'message', 'turn']);
    expect(timeline.lastMessage).toBe(1);
    timeline.append(log(4, userMessage('this')));
    expect(timeline.lastMessage).toBe(-1);
  });

  it('makes one row of an edit of a notebook and what became of it', () => {
    const path = 'a.ipynb';
    timeline.append(
      log(
        0,
        { type: 'NotebookEditAction', source: 'agent', path, operations: [] },
        { type: 'NotebookEditObservation', cause: 0, path, cells: [] },
        { type: 'NotebookReadAction', source: 'agent', path },
        { type: 'NotebookObservation', cause: 2, path, content: 'x' }
      )
    );
    expect(kinds(timeline)).toEqual(['action', 'action']);
    expect(timeline.action(0)?.result?.type).toBe('NotebookEditObservation');
    expect(timeline.action(2)?.result?.type).toBe('NotebookObservation');
  });

  it('keeps with an action that it was tried, while it waits', () => {
    const path = 'a.ipynb';
    timeline.append(
      log(
        0,
        { type: 'NotebookRunAction', source: 'agent', path },
        { type: 'DryRunAction', source: 'user', cause: 0, path, planned: [] }
      )
    );
    expect(timeline.action(0)?.dryRun).toEqual({
      id: 1,
      planned: [],
      result: null
    });
    timeline.append(
      log(2, { type: 'NotebookRunObservation', cause: 1, path, state: 'done' })
    );
    expect(timeline.action(0)?.dryRun?.result).toMatchObject({ state: 'done' });
    expect(timeline.firstOpen).toMatchObject({ id: 0, result: null });
    timeline.append(
      log(
        3,
        { type: 'DryRunAction', source: 'user', cause: 0, path, planned: [] },
        { type: 'ErrorObservation', cause: 3, code: 'stopped', message: 'x' },
        { type: 'NotebookRunObservation', cause: 0, path, state: 'error' }
      )
    );
    expect(timeline.action(0)).toMatchObject({
      dryRun: { id: 3, result: { code: 'stopped' } },
      result: { state: 'error' }
    });
    expect(kinds(timeline)).toEqual(['action']);
  });

  it('knows a question that nobody has answered from an answer', () => {
    const answer = { ...agentMessage('Done.'), wait_for_response: true };
    timeline.append(log(0, answer));
    expect(timeline.question).toBe(false);
    const llm = { response_id: 'r', tool_call_id: 'c', tool_name: 'ask_user' };
    timeline.append(log(1, { ...answer, llm }));
    expect(timeline.question).toBe(true);
    timeline.append(log(2, userMessage('yes')));
    expect(timeline.question).toBe(false);
  });

  it('ends a turn that edited cells where no files are kept', () => {
    const path = 'a.ipynb';
    const cells = [{ id: 'a', what: 'moved', cell_type: 'code' }];
    const edit = (first: number, ...before: object[]): AnyEvent[] => {
      const action = first + 1 + before.length;
      return log(
        first,
        state('running'),
        ...before,
        { type: 'NotebookEditAction', source: 'agent', path, operations: [] },
        { type: 'NotebookEditObservation', cause: action, path, cells },
        state('finished')
      );
    };
    const ends = (): unknown[] =>
      timeline.items.flatMap(item =>
        item.kind === 'turn' ? [[item.turn, item.cells, item.undone]] : []
      );
    // What came before the oldest event is not known.
    timeline.append(edit(100).slice(1));
    expect(ends()).toEqual([]);
    timeline.clear();
    timeline.append(edit(0));
    expect(ends()).toEqual([[1, 1, false]]);
    // Where files are kept, a checkpoint tells it.
    const checkpoint = { type: 'CheckpointObservation', action: 6 };
    timeline.append(edit(4, { ...checkpoint, checkpoint: 'c' }));
    expect(ends()).toHaveLength(1);
    timeline.append(
      log(
        8,
        { type: 'UndoAction', source: 'user', turn: 1 },
        state('running'),
        { type: 'FilesRestoredObservation', cause: 8, checkpoint: '' },
        state('finished')
      )
    );
    expect(ends()).toEqual([[1, 1, true]]);
  });

  it('keeps the decision with the action', () => {
    timeline.append(
      log(0, command('rm a'), {
        type: 'ConfirmationAction',
        source: 'user',
        cause: 0,
        decision: 'approve'
      })
    );
    expect((timeline.items[0] as IActionItem).decision?.decision).toBe(
      'approve'
    );
  });

  it('knows the oldest action that is open and undecided', () => {
    timeline.append(log(0, command('a'), command('b'), output(0)));
    expect(timeline.firstOpen?.id).toBe(1);
    timeline.append(log(3, output(1)));
    expect(timeline.firstOpen).toBeNull();
  });

  it('puts what the model said along with an action before it', () => {
    timeline.append(log(0, { ...command('ls'), thought: 'I look first.' }));
    expect(kinds(timeline)).toEqual(['thought', 'action']);
    expect(new Set(timeline.items.map(item => item.id)).size).toBe(2);
  });

  it('takes what comes with a question for a message, not for a thought', () => {
    const question = { ...agentMessage('Which?'), thought: 'There are two.' };
    timeline.append(log(0, question, { ...command('ls'), thought: 'I look.' }));
    const [said, , thought] = timeline.items;
    expect(said).toMatchObject({ kind: 'thought', addressed: true });
    expect(thought).toMatchObject({ kind: 'thought', addressed: false });
  });

  it('shows a message as queued until a step that has seen it', () => {
    const queued = (id: number): boolean =>
      (timeline.items.find(item => item.id === id) as IUserItem).queued;
    timeline.append(
      log(0, userMessage('go'), state('running'), userMessage('and this'))
    );
    expect([queued(0), queued(2)]).toEqual([false, true]);
    // The step that was under way when the message came.
    timeline.append(log(3, command('ls', 1)));
    expect(queued(2)).toBe(true);
    timeline.append(log(4, output(3), agentMessage('done', 4)));
    expect(queued(2)).toBe(false);
  });

  it('shows no message as queued when the agent has stopped', () => {
    timeline.append(
      log(0, state('running'), userMessage('x'), state('stopped'))
    );
    expect((timeline.items[0] as IUserItem).queued).toBe(false);
  });

  it('shows only the states that a person has to know of', () => {
    timeline.append(
      log(0, userMessage('x'), state('running'), state('finished'))
    );
    expect(kinds(timeline)).toEqual(['user']);
    timeline.append(log(3, state('stopped')));
    expect(kinds(timeline)).toEqual(['user', 'state']);
  });

  it('shows what the model thought, then what it said, then what it does', () => {
    const llm = { response_id: 'r', reasoning: 'Hm.' };
    timeline.append(log(0, { ...command('ls'), thought: 'I look.', llm }));
    expect(kinds(timeline)).toEqual(['reasoning', 'thought', 'action']);
    expect(new Set(timeline.items.map(({ id }) => id)).size).toBe(3);
  });

  it('knows when the model is asked again, and tells what happens to it', () => {
    const wait = {
      ...state('running'),
      state: 'rate_limited',
      time: new Date(Date.now() - 2000).toISOString(),
      reason: 'Slow down.',
      retry_in: 10
    };
    const notice = {
      type: 'ModelNoticeObservation',
      source: 'environment',
      model: 'b',
      code: 'model_auth',
      message: 'a failed.'
    };
    timeline.append(log(0, wait, notice));
    expect(kinds(timeline)).toEqual(['state', 'notice']);
    const left = (timeline.retryAt ?? 0) - Date.now();
    expect(left).toBeLessThanOrEqual(8000);
    expect(left).toBeGreaterThan(0);
    timeline.append(log(2, state('running')));
    expect(timeline.retryAt).toBeNull();
  });

  it('shows a change of the settings, but not what a session starts with', () => {
    const change = {
      type: 'ChangeSettingsAction',
      source: 'user',
      mode: 'ask'
    };
    timeline.append(log(0, change, userMessage('x'), change));
    expect(kinds(timeline)).toEqual(['user', 'settings']);
  });

  it('gives each refusal a row, which answers no action', () => {
    timeline.append(log(0, command('pip'), refusal('a.org'), refusal('b.org')));
    expect(kinds(timeline)).toEqual(['action', 'refused', 'refused']);
    expect(timeline.action(0)?.result).toBeNull();
    expect(timeline.firstOpen?.id).toBe(0);
    timeline.append(log(3, output(0)));
    expect(timeline.action(0)?.result).toMatchObject({ exit_code: 0 });
  });

  it('keeps the answer with the refusals of the same place before it', () => {
    const answers = (): unknown[] =>
      timeline.items.map(item => (item as IRefusedItem).answer);
    timeline.append(log(0, refusal('a.org'), refusal('b.org')));
    const before = timeline.items[0];
    timeline.append(log(2, refusal('a.org'), access('a.org', 'once')));
    expect(answers()).toEqual(['once', null, 'once']);
    expect(timeline.items[0]).not.toBe(before);
    timeline.append(log(4, refusal('a.org'), access('a.org', 'session')));
    expect(answers()).toEqual(['once', null, 'once', 'session']);
    timeline.prepend([]);
    expect(answers()).toEqual(['once', null, 'once', 'session']);
  });

  it('gives a row to what the person allows or takes back without a refusal', () => {
    timeline.append(log(0, access('a.org', 'session'), refusal('b.org')));
    timeline.append(log(2, access('b.org', 'revoked')));
    expect(kinds(timeline)).toEqual(['access', 'refused', 'access']);
    expect((timeline.items[1] as IRefusedItem).answer).toBeNull();
  });

  it('gives an event of an unknown type a row', () => {
    timeline.append(log(0, { type: 'TeleportAction' }));
    expect(kinds(timeline)).toEqual(['unknown']);
  });

  it('pairs an action with an observation that was read before it', () => {
    timeline.append(log(2, output(1, 'late'), agentMessage('done')));
    expect(kinds(timeline)).toEqual(['message']);
    timeline.prepend(log(0, userMessage('go'), command('ls')));
    expect(kinds(timeline)).toEqual(['user', 'action', 'message']);
    expect(timeline.action(1)?.result).toMatchObject({ content: 'late' });
    expect([timeline.firstId, timeline.lastId]).toEqual([0, 3]);
  });

  it('comes to the same rows however the log is cut', () => {
    const events = log(
      0,
      userMessage('go'),
      state('running'),
      { ...command('ls'), thought: 'first' },
      userMessage('more'),
      output(2),
      agentMessage('done', 4),
      state('finished')
    );
    timeline.append(events);
    for (let cut = 0; cut <= events.length; cut++) {
      const other = new Timeline();
      other.append(events.slice(cut));
      other.prepend(events.slice(0, cut));
      expect(other.items).toEqual(timeline.items);
    }
  });
});
