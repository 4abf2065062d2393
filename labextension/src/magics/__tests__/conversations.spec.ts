import { ApiError } from '../../model/client';
import { sessionInfo } from '../../model/__tests__/samples';
import type { ISessionInfo } from '../../model/frames';
import { Conversations } from '../conversations';
import type { ITaskErrand } from '../errand';

const task = (change: Partial<ITaskErrand> = {}): ITaskErrand => ({
  type: 'task',
  id: 't',
  prompt: 'Do it',
  fingerprint: 'f',
  state: 'waiting',
  session: null,
  message: null,
  mode: null,
  model: null,
  workspace: null,
  conversation: 'c',
  insists: false,
  ...change
});

function server(known: ISessionInfo[]): {
  client: ConstructorParameters<typeof Conversations>[0];
  changes: unknown[];
} {
  const changes: unknown[] = [];
  return {
    changes,
    client: {
      createSession: (mode, more) => {
        changes.push(['create', mode, more]);
        const info = sessionInfo({ id: `new${changes.length}` });
        known.push(info);
        return Promise.resolve(info);
      },
      session: id => {
        const info = known.find(info => info.id === id);
        return info
          ? Promise.resolve(info)
          : Promise.reject(new ApiError(404, 'session_not_found', '', ''));
      },
      changeSession: (id, change) => {
        changes.push([id, change]);
        return Promise.resolve(sessionInfo());
      }
    }
  };
}

describe('Conversations', () => {
  it('begins one session for all the tasks of a kernel', async () => {
    const { client, changes } = server([]);
    const conversations = new Conversations(client);
    const [first, second, other] = await Promise.all([
      conversations.sessionFor(task({ workspace: 'a' })),
      conversations.sessionFor(task()),
      conversations.sessionFor(task({ conversation: 'd', mode: 'ask' }))
    ]);
    expect(first).toBe(second);
    expect(other).not.toBe(first);
    expect(changes).toEqual([
      ['create', undefined, { workspace: 'a' }],
      ['create', 'ask', {}]
    ]);
  });

  it('does not go on in a mode that was for another cell', async () => {
    const { client, changes } = server([
      sessionInfo({ id: 's', mode: 'auto' })
    ]);
    const conversations = new Conversations(client);
    await conversations.sessionFor(task({ session: 's' }));
    await conversations.sessionFor(task({ session: 's', mode: 'auto' }));
    await conversations.sessionFor(
      task({ session: 's', mode: 'auto', model: 'm' })
    );
    expect(changes).toEqual([
      ['s', { mode: 'agent' }],
      ['s', { model: 'm' }]
    ]);
  });

  it('begins anew where the session is gone, unless it has to be that one', async () => {
    const { client } = server([]);
    const conversations = new Conversations(client);
    expect(await conversations.sessionFor(task({ session: 's' }))).toBe('new1');
    await expect(
      conversations.sessionFor(task({ session: 's', insists: true }))
    ).rejects.toThrow(ApiError);
  });
});
