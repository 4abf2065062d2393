import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { INotebookModel } from '@jupyterlab/notebook';
import type { Contents } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import { saveShared } from '../saving';

/**
 * A shared notebook with something unsaved, and whoever saves it.
 */
class Room {
  dirty = true;
  asked: Partial<Contents.IModel>[] = [];
  readonly model = Object.defineProperties(
    { toJSON: () => 'all of it' },
    {
      dirty: { get: () => this.dirty },
      stateChanged: { get: () => this._changed }
    }
  );
  readonly context = { path: 'n.ipynb', model: this.model, isDisposed: false };

  constructor(
    /** What it does when it is asked for the nth time. */
    readonly answer: (room: Room, times: number) => Promise<unknown>
  ) {}

  save(): Promise<void> {
    const contents = {
      save: (
        _: string,
        options: Partial<Contents.IModel>
      ): Promise<unknown> => {
        this.asked.push(options);
        return this.answer(this, this.asked.length);
      }
    };
    return saveShared(
      this.context as unknown as DocumentRegistry.IContext<INotebookModel>,
      contents as unknown as Contents.IManager,
      'rtc'
    );
  }

  saved(): void {
    this.dirty = false;
    this._changed.emit();
  }

  private readonly _changed = new Signal<this, void>(this);
}

const NEVER = new Promise<never>(() => undefined);

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

describe('saveShared', () => {
  it('asks who shares it, and waits until nothing is unsaved', async () => {
    const room = new Room(() => Promise.resolve());
    const saving = room.save();
    await jest.advanceTimersByTimeAsync(1000);
    room.saved();
    await saving;
    expect(room.asked).toEqual([
      {
        type: 'notebook',
        format: 'json',
        content: 'all of it',
        contentProviderId: 'rtc'
      }
    ]);
  });

  it('asks again when the answer is lost, or it was not saved', async () => {
    const room = new Room(async (asked, times) => {
      if (times === 1) {
        return NEVER;
      }
      if (times === 2) {
        throw new Error('Saving already in progress');
      }
      asked.saved();
    });
    const saving = room.save();
    await jest.advanceTimersByTimeAsync(20_000);
    await saving;
    expect(room.asked).toHaveLength(3);
  });

  it.each([
    ['never answers', () => NEVER],
    ['refuses', () => Promise.reject(new Error('No room'))],
    ['only says that it saved', () => Promise.resolve()]
  ])('fails when who shares it %s', async (_, answer) => {
    const room = new Room(answer);
    const saving = expect(room.save()).rejects.toMatchObject({
      code: 'not_saved'
    });
    await jest.advanceTimersByTimeAsync(45_000);
    await saving;
  });

  it('ends when the notebook is closed', async () => {
    const room = new Room(() => NEVER);
    const saving = expect(room.save()).rejects.toMatchObject({
      code: 'not_open'
    });
    room.context.isDisposed = true;
    await jest.advanceTimersByTimeAsync(15_000);
    await saving;
  });
});
