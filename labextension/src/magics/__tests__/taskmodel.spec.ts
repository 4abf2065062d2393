import type { AnyEvent } from '../../model/frames';
import {
  agentMessage,
  log,
  sessionInfo,
  userMessage
} from '../../model/__tests__/samples';
import { Timeline } from '../../model/timeline';
import type { ILine, ITaskErrand } from '../errand';
import type { ITaskPayload } from '../payload';
import { bundleOf, readPayload } from '../payload';
import { TaskModel } from '../taskmodel';
import type { ITaskServices } from '../taskmodel';

const PAYLOAD: ITaskPayload = {
  kind: 'task',
  id: 't',
  prompt: 'what a file says',
  state: 'waiting',
  session: null,
  message: null,
  answer: '',
  reason: ''
};

/**
 * A kernel with a task, a session, and what happens between them.
 */
class World {
  readonly told: Record<string, unknown>[] = [];
  readonly sent: string[] = [];
  readonly timeline = new Timeline();
  closed = false;
  released = 0;

  constructor(readonly errand: Partial<ITaskErrand> = {}) {}

  readonly task = new TaskModel(PAYLOAD, {
    client: {
      sendMessage: (_: string, content: string) => {
        this.sent.push(content);
        this.timeline.append(log(0, userMessage(content)));
        return Promise.resolve(0);
      },
      setState: () => Promise.resolve()
    },
    conversations: { sessionFor: () => Promise.resolve('s') },
    watches: {
      acquire: () =>
        Promise.resolve({
          error: null,
          current: {
            id: 's',
            info: sessionInfo(),
            timeline: this.timeline,
            subscribe: (listener: () => void) => {
              this._listener = listener;
              return () => undefined;
            }
          }
        }),
      release: () => this.released++
    }
  } as unknown as ITaskServices);

  connect(ranAlone: boolean): Promise<void> {
    const line: ILine = {
      errand: {
        type: 'task',
        id: 't',
        prompt: 'what the kernel says',
        state: 'waiting',
        mode: null,
        ...this.errand
      } as ITaskErrand,
      tell: news => this.told.push(news),
      close: () => (this.closed = true)
    };
    return this.task.connect({
      isSandboxed: () => Promise.resolve(false),
      openLine: () => Promise.resolve(line),
      ranAlone: () => ranAlone
    });
  }

  append(events: AnyEvent[]): void {
    this.timeline.append(events);
    this._listener();
  }

  private _listener: () => void = () => undefined;
}

const finished = { type: 'AgentStateChangedObservation', state: 'finished' };

describe('TaskModel', () => {
  it('begins what a person ran, with what the kernel says, and tells it all', async () => {
    const world = new World();
    await world.connect(true);
    expect(world.sent).toEqual(['what the kernel says']);
    world.append(log(1, agentMessage('42', 0), finished));
    const last = world.told[world.told.length - 1];
    expect(last).toMatchObject({
      state: 'finished',
      answer: '42',
      session: 's'
    });
    expect(world.told.flatMap(news => news.events)).toHaveLength(2);
    expect(world.closed).toBe(true);
    world.task.close();
    expect(world.released).toBe(1);
  });

  it.each([
    ['queued', false, {}],
    ['auto', true, { mode: 'auto' }],
    ['answered', true, { state: 'answered' }]
  ] as const)('asks first: %s', async (question, ranAlone, errand) => {
    const world = new World(errand);
    await world.connect(ranAlone);
    expect(world.task.question).toBe(question);
    expect(world.sent).toEqual([]);
    await Promise.all([world.task.run(), world.task.run()]);
    expect(world.sent).toHaveLength(1);
    expect(world.task.question).toBeNull();
  });

  it('does nothing with what no kernel knows', async () => {
    const world = new World();
    await world.task.connect({
      isSandboxed: () => Promise.resolve(false),
      openLine: () => Promise.resolve(null),
      ranAlone: () => true
    });
    await world.task.run();
    expect(world.sent).toEqual([]);
    expect(world.task.refusal).toBe('unknown');
  });

  it('does not even ask a kernel that is in a sandbox', async () => {
    const world = new World();
    const openLine = jest.fn();
    await world.task.connect({
      isSandboxed: () => Promise.resolve(true),
      openLine,
      ranAlone: () => true
    });
    await world.task.run();
    expect(world.sent).toEqual([]);
    expect(openLine).not.toHaveBeenCalled();
    expect(world.task.refusal).toBe('sandboxed');
  });

  it('takes up a task that goes on, such as after the page was loaded anew', async () => {
    const world = new World({ state: 'running', session: 's', message: 0 });
    world.timeline.append(log(0, userMessage('x'), agentMessage('half', 0)));
    await world.connect(true);
    expect(world.sent).toEqual([]);
    expect(world.task.payload).toMatchObject({
      state: 'running',
      answer: 'half'
    });
    // The kernel hears also what happened while no page told it.
    expect(world.told.flatMap(news => news.events)).toContainEqual(
      expect.objectContaining({ id: 1 })
    );
    world.append(log(2, finished));
    expect(world.told[world.told.length - 1]).toMatchObject({
      state: 'finished'
    });
    expect(world.closed).toBe(true);
  });

  it('tells a kernel also of what ended before', async () => {
    const world = new World({ state: 'running', session: 's', message: 0 });
    world.timeline.append(
      log(0, userMessage('x'), agentMessage('42', 0), finished)
    );
    await world.connect(true);
    expect(world.told[world.told.length - 1]).toMatchObject({
      state: 'finished',
      answer: '42'
    });
    expect(world.closed).toBe(true);
  });
});

describe('the payload of an output', () => {
  it('is read as it is written', () => {
    const bundle = bundleOf({ ...PAYLOAD, answer: '**42**' }, 'nothing');
    expect(bundle['text/plain']).toBe('**42**');
    expect(Object.keys(bundle)).not.toContain('text/markdown');
    const read = readPayload(Object.values(bundle)[0]);
    expect(read).toEqual({ ...PAYLOAD, answer: '**42**' });
  });

  it.each([null, 'text', {}, { version: 2, kind: 'task' }, { version: 1 }])(
    'is nothing where it is something else: %j',
    value => {
      expect(readPayload(value)).toBeNull();
    }
  );
});
