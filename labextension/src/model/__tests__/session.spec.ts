import type { ApiClient } from '../client';
import type { AnyEvent } from '../frames';
import { SessionModel } from '../session';
import { log, sessionInfo, userMessage } from './samples';

describe('SessionModel', () => {
  it('can be stopped while a command that was left running goes on', () => {
    const client = {} as ApiClient;
    const model = (command_running: boolean): SessionModel =>
      new SessionModel(
        client,
        sessionInfo({ state: 'finished', command_running }),
        () => undefined
      );
    expect(model(true).stoppable).toBe(true);
    expect(model(true).busy).toBe(false);
    expect(model(false).stoppable).toBe(false);
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
