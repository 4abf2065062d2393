import { ApiError } from './client';
import type { ApiClient, ISecret, ISettings } from './client';

/**
 * The name under which an API key is kept.
 */
export const API_KEY = 'LLM_API_KEY';

/**
 * The secret that opens a remote Jupyter server.
 */
export const GATEWAY_TOKEN = 'JUPYTER_GATEWAY_AUTH_TOKEN';

/**
 * What was typed of secrets and is not kept yet.
 */
export interface ISecretsDraft {
  /** By the name of a secret: its new value; empty to remove it. */
  readonly changed: Readonly<Record<string, string>>;
  /** A secret to be added; nothing is, as long as both are empty. */
  readonly added: { readonly name: string; readonly value: string };
}

export const NO_SECRETS: ISecretsDraft = {
  changed: {},
  added: { name: '', value: '' }
};

/**
 * A field of the secrets: the name of one that is known, or a part of the one to be added.
 */
export type SecretPlace = string;

export const ADDED_NAME: SecretPlace = 'added name';
export const ADDED_VALUE: SecretPlace = 'added value';

/**
 * A secret that was not kept for what was typed.
 */
export class SecretRefused extends Error {
  constructor(
    readonly place: SecretPlace,
    /** What the server said; null where this is no name of a secret. */
    readonly reason: ApiError | null
  ) {
    super();
    this.name = 'SecretRefused';
  }
}

/**
 * The secrets that a person keeps here and that have no field of their own.
 */
export function ownSecrets(settings: ISettings): ISecret[] {
  return settings.secrets.filter(
    ({ name, origin }) =>
      origin === 'panel' && name !== API_KEY && name !== GATEWAY_TOKEN
  );
}

/**
 * The draft with another value for a secret that is known.
 *
 * @param value - Empty to remove it; undefined to leave it as it is.
 */
export function withChanged(
  draft: ISecretsDraft,
  name: string,
  value: string | undefined
): ISecretsDraft {
  const changed = { ...draft.changed };
  if (value === undefined) {
    delete changed[name];
  } else {
    changed[name] = value;
  }
  return { ...draft, changed };
}

/**
 * Keep and remove what was typed, one secret after the other.
 *
 * Throws a `SecretRefused` where what was typed is the reason.
 *
 * @param onKept - Told what is left of the draft, each time that a part of it is kept.
 */
export async function saveSecrets(
  client: Pick<ApiClient, 'setSecret' | 'deleteSecret'>,
  draft: ISecretsDraft,
  onKept: (left: ISecretsDraft) => void
): Promise<void> {
  for (const [name, value] of Object.entries(draft.changed)) {
    await explained(
      value === '' ? client.deleteSecret(name) : client.setSecret(name, value),
      () => name
    );
    draft = withChanged(draft, name, undefined);
    onKept(draft);
  }
  const { added } = draft;
  if (added.name === '' && added.value === '') {
    return;
  }
  // Others might not even reach the server as a name.
  if (!/^[A-Z][A-Z0-9_]{0,63}$/.test(added.name)) {
    throw new SecretRefused(ADDED_NAME, null);
  }
  await explained(client.setSecret(added.name, added.value), error =>
    error.field === 'value' ? ADDED_VALUE : ADDED_NAME
  );
  onKept({ ...draft, added: NO_SECRETS.added });
}

async function explained(
  request: Promise<void>,
  placeOf: (error: ApiError) => SecretPlace
): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (error instanceof ApiError && [404, 409, 422].includes(error.status)) {
      throw new SecretRefused(placeOf(error), error);
    }
    throw error;
  }
}
