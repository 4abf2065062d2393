import { ApiError } from '../client';
import {
  ADDED_NAME,
  ADDED_VALUE,
  NO_SECRETS,
  ownSecrets,
  saveSecrets,
  withChanged
} from '../secrets';
import type { ISecretsDraft, SecretRefused } from '../secrets';
import { secret } from './samples';

/**
 * A server that refuses what is in `failing`, by the name of the secret.
 */
class FakeClient {
  asked: string[] = [];
  failing: Record<string, ApiError> = {};

  setSecret = (name: string, value: string): Promise<void> =>
    this._do(name, `PUT ${name} ${value}`);

  deleteSecret = (name: string): Promise<void> =>
    this._do(name, `DELETE ${name}`);

  private _do(name: string, what: string): Promise<void> {
    this.asked.push(what);
    const error = this.failing[name];
    return error ? Promise.reject(error) : Promise.resolve();
  }
}

function refusal(status: number, field = ''): ApiError {
  return new ApiError(status, 'a_code', 'No.', '', field);
}

const DRAFT: ISecretsDraft = {
  changed: { OLD: '', TOKEN: 'other' },
  added: { name: 'NEW', value: 'one' }
};

describe('saveSecrets', () => {
  let client: FakeClient;
  let left: ISecretsDraft;

  /**
   * Save a draft; what went wrong, or null.
   */
  async function save(draft: ISecretsDraft): Promise<unknown> {
    left = draft;
    try {
      await saveSecrets(client, draft, rest => (left = rest));
      return null;
    } catch (error) {
      return error;
    }
  }

  beforeEach(() => {
    client = new FakeClient();
  });

  it('removes, replaces and adds, and keeps no value', async () => {
    expect(await save(DRAFT)).toBeNull();
    expect(client.asked).toEqual([
      'DELETE OLD',
      'PUT TOKEN other',
      'PUT NEW one'
    ]);
    expect(left).toEqual(NO_SECRETS);
  });

  it('asks for nothing where nothing was typed', async () => {
    expect(await save(NO_SECRETS)).toBeNull();
    expect(client.asked).toEqual([]);
  });

  it('goes on behind what was kept already', async () => {
    client.failing.NEW = refusal(422, 'value');
    const { place, reason } = (await save(DRAFT)) as SecretRefused;
    expect([place, reason]).toEqual([ADDED_VALUE, client.failing.NEW]);
    expect(left).toEqual({ ...DRAFT, changed: {} });
    client.failing = {};
    client.asked = [];
    expect(await save(left)).toBeNull();
    expect(client.asked).toEqual(['PUT NEW one']);
  });

  it.each([
    [404, '', 'OLD', 'OLD'],
    [422, 'value', 'TOKEN', 'TOKEN'],
    [422, 'name', 'NEW', ADDED_NAME],
    [409, '', 'NEW', ADDED_NAME]
  ])('says at which field a %i for "%s" of %s is', async (...row) => {
    const [status, field, name, place] = row;
    client.failing[name] = refusal(status, field);
    const error = (await save(DRAFT)) as SecretRefused;
    expect(error.place).toBe(place);
    expect(error.reason).toBe(client.failing[name]);
  });

  it('leaves a failure that is of no field as it is', async () => {
    client.failing.TOKEN = refusal(503);
    expect(await save(DRAFT)).toBe(client.failing.TOKEN);
  });

  it.each(['', '..', 'lower', '1ST', 'A-B', 'A'.repeat(65)])(
    'does not ask the server to keep the name "%s"',
    async name => {
      const added = { name, value: 'x' };
      const error = await save({ ...NO_SECRETS, added });
      expect(error).toMatchObject({ place: ADDED_NAME, reason: null });
      expect(client.asked).toEqual([]);
    }
  );
});

describe('secrets', () => {
  it('are a person’s own where they are kept here, and have no other field', () => {
    const own = secret({ name: 'OWN' });
    const secrets = [
      own,
      secret({ name: 'LLM_API_KEY' }),
      secret({ name: 'JUPYTER_GATEWAY_AUTH_TOKEN' }),
      secret({ name: 'OPENAI_API_KEY', origin: 'environment' })
    ];
    expect(ownSecrets({ settings: {}, secrets, problems: [] })).toEqual([own]);
  });

  it('are changed, to be removed, and left as they are', () => {
    const changed = withChanged(NO_SECRETS, 'A', 'x');
    expect(changed.changed).toEqual({ A: 'x' });
    expect(withChanged(changed, 'A', '').changed).toEqual({ A: '' });
    expect(withChanged(changed, 'A', undefined)).toEqual(NO_SECRETS);
  });
});
