import type { Frame } from '../frames';
import { SessionSocket } from '../socket';
import type { Connection } from '../socket';
import { log, sessionInfo, userMessage } from './samples';

/**
 * A socket whose server is the test.
 */
class FakeSocket {
  onopen: (() => void) | null = null;
  onmessage: ((message: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  closed = false;

  constructor(readonly after: number) {}

  open(lastId = 1000): void {
    this.onopen?.();
    this.send({ type: 'hello', session: sessionInfo(), last_id: lastId });
  }

  send(frame: object): void {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }

  sendEvents(first: number, count: number): void {
    const events = log(
      first,
      ...Array.from({ length: count }, () => userMessage('x'))
    );
    this.send({ type: 'events', events });
  }

  break(code = 1006): void {
    this.onclose?.({ code });
  }

  close(): void {
    this.closed = true;
    this.break(1000);
  }
}

describe('SessionSocket', () => {
  let sockets: FakeSocket[];
  let ids: number[];
  let connections: Connection[];
  let refusals: number;
  let shorter: number;
  let goOn: boolean;
  let socket: SessionSocket;

  beforeEach(() => {
    jest.useFakeTimers();
    sockets = [];
    ids = [];
    connections = [];
    refusals = 0;
    shorter = 0;
    goOn = true;
    socket = new SessionSocket(
      {
        openStream: (_, after) => {
          sockets.push(new FakeSocket(after));
          return sockets[sockets.length - 1] as unknown as WebSocket;
        }
      },
      'a',
      4,
      {
        onFrame: (frame: Frame) => {
          if (frame.type === 'events') {
            ids.push(...frame.events.map(event => event.id));
          }
        },
        onConnection: connection => connections.push(connection),
        onShorter: () => {
          shorter++;
        },
        onRefused: () => {
          refusals++;
          return Promise.resolve(goOn);
        }
      }
    );
    socket.open();
  });

  afterEach(() => {
    socket.close();
    jest.useRealTimers();
  });

  const newest = (): FakeSocket => sockets[sockets.length - 1];

  it('asks for what follows the last known event', () => {
    expect(newest().after).toBe(4);
    newest().open();
    newest().sendEvents(5, 2);
    expect(ids).toEqual([5, 6]);
    expect(connections).toEqual(['connected']);
  });

  it('goes on behind the last event after a break', async () => {
    newest().open();
    newest().sendEvents(5, 3);
    newest().break();
    expect(connections).toEqual(['connected', 'connecting']);
    await jest.advanceTimersByTimeAsync(500);
    expect(sockets).toHaveLength(2);
    expect(newest().after).toBe(7);
    expect(refusals).toBe(0);
  });

  it('passes over events that it has already told', () => {
    newest().open();
    newest().sendEvents(5, 2);
    newest().sendEvents(5, 3);
    expect(ids).toEqual([5, 6, 7]);
  });

  it('does not tell what comes behind a gap, but asks for what is missing', async () => {
    newest().open();
    newest().sendEvents(5, 1);
    newest().sendEvents(8, 1);
    expect(ids).toEqual([5]);
    expect(newest().closed).toBe(true);
    await jest.advanceTimersByTimeAsync(500);
    expect(newest().after).toBe(5);
    newest().open();
    newest().sendEvents(6, 3);
    expect(ids).toEqual([5, 6, 7, 8]);
  });

  it('waits longer after each attempt, up to a limit', async () => {
    const waits: number[] = [];
    jest.spyOn(Math, 'random').mockReturnValue(1);
    for (let attempt = 0; attempt < 8; attempt++) {
      const count = sockets.length;
      newest().break();
      let waited = 0;
      while (sockets.length === count) {
        await jest.advanceTimersByTimeAsync(100);
        waited += 100;
      }
      waits.push(waited);
    }
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 15000, 15000, 15000]);
    expect(connections[connections.length - 1]).toBe('offline');
    expect(refusals).toBe(8);
  });

  it('begins with short waits again once it was connected', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(1);
    newest().break();
    await jest.advanceTimersByTimeAsync(500);
    newest().open();
    newest().break();
    await jest.advanceTimersByTimeAsync(500);
    expect(sockets).toHaveLength(3);
  });

  it('gives up when it is told so', async () => {
    goOn = false;
    newest().break();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(sockets).toHaveLength(1);
  });

  it('asks why when the server says that the session is gone', async () => {
    newest().open();
    newest().break(4404);
    await jest.advanceTimersByTimeAsync(0);
    expect(refusals).toBe(1);
  });

  it('takes a long silence for a dead connection', async () => {
    newest().open();
    for (let i = 0; i < 5; i++) {
      await jest.advanceTimersByTimeAsync(20_000);
      newest().send({ type: 'heartbeat', last_id: 0 });
    }
    expect(sockets).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(51_000);
    expect(sockets.length).toBeGreaterThan(1);
    expect(sockets[0].closed).toBe(true);
  });

  it('reconnects at once when woken', async () => {
    newest().break();
    await jest.advanceTimersByTimeAsync(0);
    socket.wake();
    expect(sockets).toHaveLength(2);
  });

  it('says when the log has lost what is known of it, and tells nothing more', async () => {
    newest().open();
    newest().sendEvents(5, 3);
    newest().break();
    await jest.advanceTimersByTimeAsync(500);
    const again = newest();
    again.open(5);
    again.sendEvents(6, 1);
    expect(shorter).toBe(1);
    expect(ids).toEqual([5, 6, 7]);
    expect(again.closed).toBe(true);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(newest()).toBe(again);
  });

  it('does not wait for ever for a connection that is never made', async () => {
    const first = newest();
    await jest.advanceTimersByTimeAsync(51_000);
    expect(first.closed).toBe(true);
    await jest.advanceTimersByTimeAsync(15_000);
    expect(sockets.length).toBeGreaterThan(1);
  });

  it('stays closed', async () => {
    newest().open();
    socket.close();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(sockets).toHaveLength(1);
  });
});
