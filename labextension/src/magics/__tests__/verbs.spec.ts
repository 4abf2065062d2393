import type { ApiClient } from '../../model/client';
import { ApiError } from '../../model/client';
import { log, sessionInfo } from '../../model/__tests__/samples';
import type { IRequestErrand } from '../errand';
import { carryOut } from '../verbs';

const request = (verb: string, args: object = {}): IRequestErrand => ({
  type: 'request',
  id: 'r',
  verb,
  arguments: { session: 's', ...args }
});

describe('carryOut', () => {
  it.each(['decide', 'setSecret', 'changeSettings', 'constructor', ''])(
    'refuses what a kernel may not ask for: %s',
    async verb => {
      const client = new Proxy({} as ApiClient, {
        get: () => {
          throw new Error('It was called.');
        }
      });
      await expect(carryOut(client, request(verb))).rejects.toThrow(ApiError);
    }
  );

  it('gives the settings without the names of secrets', async () => {
    const client = {
      settings: () =>
        Promise.resolve({ settings: { mode: 1 }, secrets: ['KEY'] })
    } as unknown as ApiClient;
    expect(await carryOut(client, request('config'))).toEqual({ mode: 1 });
  });

  it('undoes, and waits for what came of it', async () => {
    const pages = [
      log(3, { type: 'UndoAction', source: 'user' }),
      log(4, { type: 'FilesRestoredObservation', cause: 3, restored: 2 })
    ];
    const client = {
      undo: () => Promise.resolve(3),
      eventsAfter: () => Promise.resolve(pages.shift())
    } as unknown as ApiClient;
    expect(await carryOut(client, request('undo'))).toMatchObject({
      restored: 2
    });
  });

  it('says nothing to an agent that is not at work, which would begin something', async () => {
    const sent: string[] = [];
    const client = (state: 'finished' | 'running'): ApiClient =>
      ({
        session: () => Promise.resolve(sessionInfo({ state })),
        sendMessage: (_: string, content: string) => sent.push(content)
      }) as unknown as ApiClient;
    const inject = request('inject', { content: 'Hurry' });
    await expect(carryOut(client('finished'), inject)).rejects.toThrow(
      ApiError
    );
    await carryOut(client('running'), inject);
    expect(sent).toEqual(['Hurry']);
  });
});
