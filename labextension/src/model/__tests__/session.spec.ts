import type { ApiClient } from '../client';
import type { AnyEvent, ISessionInfo } from '../frames';
import { SessionModel } from '../session';
import { log, sessionInfo, userMessage } from './samples';

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
