import type { ApiClient } from '../client';
import type { AnyEvent, ISessionInfo } from '../frames';
import { SessionModel } from '../session';
import { command, log, output, sessionInfo, userMessage } from './samples';

describe('SessionModel', () => {
  it('can be stopped while something that was left running goes on', () => {
    const model = (running: Partial<ISessionInfo>): SessionModel =>
      new SessionModel(
        {} as ApiClient,
        sessionInfo({ state: 'finished', ...running }),
        () => undefined
      );
    for (const what of ['command_running', 'cells_running']) {
      expect(model({ [what]: true }).stoppable).toBe(true);
      expect(model({ [what]: true }).busy).toBe(false);
    }
    expect(model({}).stoppable).toBe(false);
  });

  it('drops a text at once that ends after the event that holds it', async () => {
    const sockets: { onmessage?: (message: { data: string }) => void }[] = [];
    const client = {
      eventsBefore: () => Promise.resolve(log(0, userMessage('a'))),
      openStream: () => {
        sockets.push({ close: () => undefined } as object);
        return sockets[0];
      }
    } as unknown as ApiClient;
    const model = new SessionModel(client, sessionInfo(), () => undefined);
    await model.open();
    const take = (frame: object): void =>
      sockets[0].onmessage?.({ data: JSON.stringify(frame) });
    const said = { kind: 'text', cause: 0 };
    const printed = { kind: 'output', cause: 1 };
    const end = { text: '', offset: 0, end: true };

    take({ type: 'live', items: [{ ...said, text: 'b', offset: 0 }] });
    take({ type: 'events', events: log(1, command('ls')) });
    expect(model.live.all).toHaveLength(1);
    take({ type: 'live', items: [{ ...said, ...end }] });
    expect(model.live.all).toEqual([]);

    take({ type: 'live', items: [{ ...printed, text: 'c', offset: 0 }] });
    take({ type: 'live', items: [{ ...printed, ...end }] });
    // The event that holds it is still to come.
    expect(model.live.all).toHaveLength(1);
    take({ type: 'events', events: log(2, output(1, 'c')) });
    expect(model.live.all).toEqual([]);
    model.close();
  });

  it('reads back to an event, and no further', async () => {
    const pages = [log(4, userMessage('e')), log(2, userMessage('c'))];
    const eventsBefore = jest.fn(() => Promise.resolve(pages.shift() ?? []));
    const client = { eventsBefore, openStream: jest.fn(() => ({})) };
    const model = new SessionModel(
      client as unknown as ApiClient,
      sessionInfo(),
      () => undefined
    );
    await model.open();
    await model.reveal(4);
    expect(eventsBefore).toHaveBeenCalledTimes(1);
    await model.reveal(3);
    expect(model.timeline.firstId).toBe(2);
    // What cannot be had is not asked for for ever.
    await model.reveal(0);
    expect(model.timeline.firstId).toBe(2);
  });

  it('reads everything anew when the server has lost the end of the log', async () => {
    let kept: AnyEvent[] = log(0, userMessage('a'), userMessage('lost'));
    const sockets: { onmessage?: (message: { data: string }) => void }[] = [];
    const client = {
      eventsBefore: () => Promise.resolve(kept),
      session: () => Promise.resolve(sessionInfo()),
      openStream: () => {
        sockets.push({ close: () => undefined } as object);
        return sockets[sockets.length - 1];
      }
    } as unknown as ApiClient;
    const model = new SessionModel(client, sessionInfo(), () => undefined);
    await model.open();
    expect(model.timeline.lastId).toBe(1);

    kept = log(0, userMessage('a'));
    const hello = { type: 'hello', session: sessionInfo(), last_id: 0 };
    sockets[0].onmessage?.({ data: JSON.stringify(hello) });
    await new Promise(resolve => setTimeout(resolve));
    const events = log(1, userMessage('new'));
    const frame = { type: 'events', events };
    sockets[1].onmessage?.({ data: JSON.stringify(frame) });

    const shown = model.timeline.items.map(item =>
      item.kind === 'user' ? item.content : item.kind
    );
    expect(shown).toEqual(['a', 'new']);
    model.close();
  });
});
