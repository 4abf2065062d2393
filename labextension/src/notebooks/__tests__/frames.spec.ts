import { answerFrames, errorFrame, parseRequest, Refusal } from '../frames';

describe('parseRequest', () => {
  it('reads what the server asks for', () => {
    const change = { steps: [] };
    const ask = (method: string): unknown =>
      parseRequest(
        JSON.stringify({
          type: 'request',
          id: 'a',
          method,
          params: { path: 'n.ipynb', change }
        })
      );
    const request = { id: 'a', path: 'n.ipynb' };
    expect(ask('read')).toEqual({
      ...request,
      method: 'read',
      whole: null,
      known: null
    });
    expect(ask('save')).toEqual({ ...request, method: 'save' });
    expect(ask('open')).toEqual({ ...request, method: 'open' });
    expect(ask('change')).toEqual({ ...request, method: 'change', change });
    expect(ask('fly')).toEqual({ ...request, method: 'unknown', name: 'fly' });
  });

  it.each([
    '{"type":"hello"}',
    '{"type":"request","id":"a","method":"read"}',
    '{"type":"request","method":"read","params":{"path":"n.ipynb"}}',
    '[]',
    'null'
  ])('passes over what is no request: %s', frame => {
    expect(parseRequest(frame)).toBeNull();
  });
});

describe('answerFrames', () => {
  function joined(frames: string[]): unknown {
    const parsed = frames.map(
      frame => JSON.parse(frame) as Record<string, string>
    );
    const last = parsed.pop();
    expect(last).toEqual({ type: 'answer', id: 'a' });
    return JSON.parse(parsed.map(({ text }) => text).join(''));
  }

  it('tells a small result in one frame', () => {
    expect(answerFrames('a', { x: 'ü🚀' })).toEqual([
      '{"type":"answer","id":"a","result":{"x":"ü🚀"}}'
    ]);
    expect(answerFrames('a', null)).toEqual([
      '{"type":"answer","id":"a","result":null}'
    ]);
  });

  it.each(['', 'x', 'xy'])(
    'tells a large one in parts that split no character: %s',
    start => {
      const result = { text: start + '🚀'.repeat(1_500_000) };
      const frames = answerFrames('a', result);
      expect(frames.length).toBeGreaterThan(2);
      for (const frame of frames) {
        expect(frame).not.toMatch(/\\ud[89a-f]/);
      }
      expect(joined(frames)).toEqual(result);
    }
  );

  it('tells half a surrogate pair as what browsers make of it', () => {
    const [frame] = answerFrames('a', {
      'x\ud83d': 'a\ud83d b\ude80',
      y: '🚀'
    });
    expect(JSON.parse(frame)).toMatchObject({
      result: { y: '🚀' }
    });
    expect(frame).toContain('"a\ufffd b\ufffd"');
  });
});

describe('errorFrame', () => {
  it('has the code of a refusal, and one for all else', () => {
    const refusal = new Refusal('read_only', 'It is read-only.');
    expect(JSON.parse(errorFrame('a', refusal))).toEqual({
      type: 'answer',
      id: 'a',
      error: { code: 'read_only', message: 'It is read-only.' }
    });
    expect(JSON.parse(errorFrame('a', new Error('oh')))).toMatchObject({
      error: { code: 'failed', message: 'oh' }
    });
  });
});
