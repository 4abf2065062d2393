import { Signal } from '@lumino/signaling';
import { untilOpened } from '../behind';

type Opened = Parameters<typeof untilOpened>[0];
type View = Parameters<typeof untilOpened>[2];

describe('untilOpened', () => {
  let found: boolean;
  let closed: boolean;
  let looks: number;
  let changed: Signal<object, void>;
  let disposed: Signal<object, void>;

  function wait(): Promise<void> {
    const opened = {
      changed,
      find: () => {
        looks++;
        return found ? {} : undefined;
      }
    };
    const view = {
      disposed,
      get isDisposed() {
        return closed;
      }
    };
    return untilOpened(
      opened as unknown as Opened,
      'a.ipynb',
      view as unknown as View
    );
  }

  beforeEach(() => {
    [found, closed, looks] = [false, false, 0];
    [changed, disposed] = [new Signal({}), new Signal({})];
  });

  it('waits until it counts as open', async () => {
    const waiting = wait();
    found = true;
    changed.emit();
    await waiting;
    changed.emit();
    expect(looks).toBe(2);
  });

  it('gives up what is closed before, and listens no more', async () => {
    const waiting = wait();
    closed = true;
    disposed.emit();
    await expect(waiting).rejects.toMatchObject({ code: 'not_opened' });
    changed.emit();
    expect(looks).toBe(2);
  });
});
