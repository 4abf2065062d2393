import { TabSocket } from '../socket';

/**
 * A socket whose server is the test.
 */
class FakeSocket {
  static all: FakeSocket[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((message: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;
  readyState = 0;
  sent: string[] = [];

  constructor(readonly url: string) {
    FakeSocket.all.push(this);
  }

  open(): void {
    this.readyState = 1;
    this.onopen?.();
  }

  send(frame: string): void {
    this.sent.push(frame);
  }

  close(): void {
    this.readyState = 3;
    this.onclose?.();
  }
}

describe('TabSocket', () => {
  let socket: TabSocket;
  let opened: number;
  let messages: unknown[];

  beforeEach(() => {
    jest.useFakeTimers();
    FakeSocket.all = [];
    opened = 0;
    messages = [];
    socket = new TabSocket(
      {
        WebSocket: FakeSocket as unknown as typeof WebSocket,
        appendToken: true,
        token: 'a token',
        wsUrl: 'ws://host/base/'
      },
      {
        onOpen: () => {
          opened++;
        },
        onMessage: data => messages.push(data)
      }
    );
    socket.open();
  });

  afterEach(() => {
    socket.close();
    jest.useRealTimers();
  });

  const newest = (): FakeSocket => FakeSocket.all[FakeSocket.all.length - 1];

  it('keeps its id over breaks', async () => {
    const first = newest();
    expect(first.url).toMatch(
      /^ws:\/\/host\/base\/openhands\/api\/tabs\?tab=[-0-9a-f]{36}&token=a%20token$/
    );
    first.open();
    first.close();
    await jest.advanceTimersByTimeAsync(500);
    expect(newest()).not.toBe(first);
    expect(newest().url).toBe(first.url);
    newest().open();
    expect(opened).toBe(2);
  });

  it('sends nothing without a connection, and says so', () => {
    expect(socket.send('a')).toBe(false);
    newest().open();
    expect(socket.send('b', 'c')).toBe(true);
    newest().onmessage?.({ data: 'd' });
    expect(newest().sent).toEqual(['b', 'c']);
    expect(messages).toEqual(['d']);
    newest().close();
    expect(socket.send('e')).toBe(false);
  });

  it('waits longer after each attempt, up to a limit, and begins anew once connected', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(1);
    const waits: number[] = [];
    const waitForNext = async (): Promise<void> => {
      const count = FakeSocket.all.length;
      let waited = 0;
      newest().close();
      while (FakeSocket.all.length === count) {
        await jest.advanceTimersByTimeAsync(100);
        waited += 100;
      }
      waits.push(waited);
    };
    for (let attempt = 0; attempt < 7; attempt++) {
      await waitForNext();
    }
    newest().open();
    await waitForNext();
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 15000, 15000, 500]);
  });

  it('connects at once when woken, and not twice', async () => {
    newest().close();
    socket.wake();
    socket.wake();
    expect(FakeSocket.all).toHaveLength(2);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(FakeSocket.all).toHaveLength(2);
  });

  it('stays closed', async () => {
    newest().open();
    socket.close();
    socket.wake();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(FakeSocket.all).toHaveLength(1);
  });
});
