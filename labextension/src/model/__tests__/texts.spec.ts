import { ApiError } from '../client';
import type { BrowseInteractiveAction } from '../events';
import {
  describeAction,
  outcomeText,
  planText,
  problemText,
  riskText,
  stateText,
  succeeded
} from '../texts';
import type { Result, RunnableAction } from '../items';
import { trans } from './translation';

describe('riskText', () => {
  it('names every level in words', () => {
    const texts = (['low', 'medium', 'high'] as const).map(level =>
      riskText(trans, level)
    );
    expect(texts).toEqual(['Low risk', 'Medium risk', 'High risk']);
  });
});

test('who is asked something hears that an answer is waited for', () => {
  const text = (asks: boolean): string =>
    stateText(trans, 'awaiting_user_input', asks);
  expect([text(false), text(true)]).toEqual([
    'Ready for a message',
    'Waiting for your answer'
  ]);
});

describe('describeAction', () => {
  it('makes a deceptive path visible', () => {
    const action = {
      type: 'FileWriteAction',
      id: 1,
      path: 'photo\u202egnp.py\n',
      content: ''
    } as RunnableAction;
    expect(describeAction(trans, action)).toEqual({
      verb: 'Write',
      object: 'photo⟨U+202E⟩gnp.py⟨U+000A⟩'
    });
  });
});

describe('describeAction in the browser', () => {
  it.each<[Partial<BrowseInteractiveAction>, string, string]>([
    [
      { do: 'open', url: 'http://a.test/\u202e' },
      'Open in the browser',
      'http://a.test/⟨U+202E⟩'
    ],
    [
      { do: 'click', ref: 'e1', element: 'button "Buy"' },
      'Click',
      'button "Buy"'
    ],
    [{ do: 'click', ref: 'e1' }, 'Click', 'e1'],
    [
      { do: 'type', ref: 'e1', text: 'Ada', enter: true },
      'Type into',
      'e1, then Enter'
    ],
    [{ do: 'press', text: 'Tab' }, 'Press a key:', 'Tab'],
    [{ do: 'close_tab', tab: 2 }, 'Close tab', '2'],
    [{ do: 'screenshot' }, 'Take a picture of the page', '']
  ])('of %j', (given, verb, object) => {
    const action = { type: 'BrowseInteractiveAction', ...given };
    expect(describeAction(trans, action as RunnableAction)).toEqual({
      verb,
      object
    });
  });
});

describe('describeAction in a kernel of the person', () => {
  it('names the notebook and the kernel, which have inert names', () => {
    const action: RunnableAction = {
      type: 'KernelCodeAction',
      id: 1,
      path: 'analysis.ipynb',
      code: 'x',
      kernel: { id: 'k', name: 'Python 3\u202e' }
    };
    expect(describeAction(trans, action)).toEqual({
      verb: 'Run code in your kernel:',
      object: 'analysis.ipynb (Python 3⟨U+202E⟩)'
    });
  });
});

describe('describeAction of the shell', () => {
  it.each([
    [{ command: 'make' }, 'Run a command'],
    [{ command: '' }, 'Wait for the running command'],
    [{ command: 'yes', is_input: true }, 'Type into the running command']
  ])('names %j', (fields, verb) => {
    const action = { type: 'CmdRunAction', id: 1, ...fields } as RunnableAction;
    expect(describeAction(trans, action).verb).toBe(verb);
  });
});

describe('outcomeText and succeeded', () => {
  it.each<[Result, string, boolean]>([
    [
      { type: 'CmdOutputObservation', content: '', exit_code: 0 },
      'Exit code 0',
      true
    ],
    [
      { type: 'CmdOutputObservation', content: '', exit_code: 2 },
      'Exit code 2',
      false
    ],
    [
      { type: 'CmdOutputObservation', content: '', interrupted: 'stopped' },
      'Stopped',
      false
    ],
    [{ type: 'IPythonOutputObservation' }, 'Done', true],
    [{ type: 'IPythonOutputObservation', ok: false }, 'Error', false],
    [
      {
        type: 'IPythonOutputObservation',
        ok: false,
        interrupted: 'kernel_died'
      },
      'The kernel died',
      false
    ],
    [
      { type: 'FileWriteObservation', path: 'a', created: true },
      'Created',
      true
    ],
    [
      { type: 'FileReadObservation', path: 'a', content: '', total_lines: 1 },
      '1 line',
      true
    ],
    [
      { type: 'CmdOutputObservation', content: '', running: true },
      'Still running',
      true
    ],
    [
      { type: 'FileGlobObservation', path: '.', pattern: '*', total: 2 },
      '2 files',
      true
    ],
    [
      { type: 'FileGrepObservation', path: '.', pattern: 'x', total: 1 },
      '1 line found',
      true
    ],
    [
      { type: 'BrowserOutputObservation', url: 'http://a.test/', status: 200 },
      'Fetched',
      true
    ],
    [
      {
        type: 'BrowserOutputObservation',
        url: 'http://a.test/',
        tabs: [{ tab: 1, url: 'http://a.test/' }]
      },
      'Done',
      true
    ],
    [
      { type: 'BrowserOutputObservation', url: 'http://a.test/', status: 404 },
      'Status 404',
      false
    ],
    [{ type: 'KernelObservation', whose: 'user', content: 'x' }, 'Done', true],
    [
      { type: 'NotebookObservation', path: 'a.ipynb', content: '' },
      'Read',
      true
    ],
    [
      {
        type: 'NotebookEditObservation',
        path: 'a.ipynb',
        delivery: 'tab',
        nb_rev: '0',
        cells: [{ id: 'a', what: 'moved', cell_type: 'code' }]
      },
      '1 cell changed',
      true
    ],
    [{ type: 'UserRejectObservation' }, 'Rejected, not executed', false],
    [
      { type: 'ErrorObservation', code: 'interrupted', message: '' },
      'Interrupted',
      false
    ]
  ])('says what came of %j', (result, text, good) => {
    expect(outcomeText(trans, result)).toBe(text);
    expect(succeeded(result)).toBe(good);
  });
});

describe('planText', () => {
  it('counts what is done', () => {
    const tasks = [{ title: 'a', status: 'done' as const }, { title: 'b' }];
    expect(planText(trans, tasks)).toBe('Plan: 1 of 2 done');
  });
});

describe('problemText', () => {
  it('prefers the words of the server', () => {
    const error = new ApiError(
      422,
      'invalid',
      'No such model.',
      'Pick another.'
    );
    expect(problemText(trans, error)).toEqual({
      message: 'No such model.',
      hint: 'Pick another.'
    });
  });

  it.each([0, 401, 403, 404, 409, 500, 502, 503])(
    'has a sentence for status %d',
    status => {
      const { message } = problemText(trans, new ApiError(status, '', '', ''));
      expect(message).toMatch(/^[A-Z].*\.$/);
    }
  );
});
