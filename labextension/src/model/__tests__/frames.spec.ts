import { parseEvent, parseFrame } from '../frames';
import { sessionInfo } from './samples';

describe('parseFrame', () => {
  it('reads a hello', () => {
    const text = JSON.stringify({
      type: 'hello',
      session: sessionInfo(),
      last_id: 4
    });
    const frame = parseFrame(text);
    expect(frame).toMatchObject({ type: 'hello', lastId: 4 });
  });

  it('reads events', () => {
    const frame = parseFrame(
      '{"type":"events","events":[{"v":1,"id":0,"type":"UserMessageAction","source":"user","content":"hi"}]}'
    );
    expect(frame).toEqual({
      type: 'events',
      events: [
        {
          v: 1,
          id: 0,
          type: 'UserMessageAction',
          source: 'user',
          content: 'hi'
        }
      ]
    });
  });

  it('fills in what live text leaves out', () => {
    const frame = parseFrame(
      '{"type":"live","items":[{"kind":"text","cause":3,"end":true}]}'
    );
    expect(frame).toEqual({
      type: 'live',
      items: [{ kind: 'text', cause: 3, offset: 0, text: '', end: true }]
    });
  });

  it('passes over a frame of a newer server', () => {
    expect(parseFrame('{"type":"weather"}')).toBeNull();
  });

  it.each([
    ['no JSON', 'hello'],
    ['no object', '[]'],
    ['no type', '{}'],
    ['events that are no list', '{"type":"events","events":{}}'],
    ['an event without an id', '{"type":"events","events":[{"type":"X"}]}'],
    ['a hello without a session', '{"type":"hello","last_id":1}'],
    ['live text that is no object', '{"type":"live","items":[1]}']
  ])('refuses %s', (_, text) => {
    expect(() => parseFrame(text)).toThrow();
  });
});

describe('parseEvent', () => {
  it('keeps an event of an unknown type whole', () => {
    const raw = { type: 'TeleportAction', id: 5, where: 'there' };
    expect(parseEvent(raw)).toEqual({
      type: 'unknown',
      id: 5,
      name: 'TeleportAction',
      raw
    });
  });

  it('does not take a property of every object for a type', () => {
    expect(parseEvent({ type: 'toString', id: 1 }).type).toBe('unknown');
  });
});
