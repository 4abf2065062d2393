import type { ApiClient } from '../model/client';
import { ApiError } from '../model/client';
import type { IRequestErrand } from './errand';

/**
 * Milliseconds between two looks whether an undo is done.
 */
const PAUSE = 300;

const MOST_EVENTS = 1000;

const UNDONE: readonly string[] = [
  'ErrorObservation',
  'FilesRestoredObservation'
];

/**
 * Carry out what a kernel asks for.
 *
 * These are all that a kernel can ask for: it cannot approve steps, change settings or read secrets.
 *
 * Throws an `ApiError` when the server refuses.
 */
export async function carryOut(
  client: ApiClient,
  errand: IRequestErrand
): Promise<unknown> {
  const { verb } = errand;
  const session = text(errand.arguments.session);
  switch (verb) {
    case 'status':
      return client.session(session);
    case 'list':
      return client.sessions();
    case 'models':
      return client.models();
    case 'config':
      return (await client.settings()).settings;
    case 'stop':
      return stop(client, session);
    case 'undo':
      return undo(client, session);
    case 'log': {
      const limit = Math.min(Number(errand.arguments.limit), MOST_EVENTS);
      const events = await client.eventsBefore(session, undefined, limit);
      return events.map(event =>
        event.type === 'unknown' ? event.raw : event
      );
    }
    case 'inject':
      return inject(client, session, text(errand.arguments.content));
    default:
      throw new ApiError(0, 'unknown_verb', `A page cannot ${verb}.`, '');
  }
}

async function stop(client: ApiClient, session: string): Promise<boolean> {
  try {
    await client.setState(session, 'stop');
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 409) {
      return false;
    }
    throw error;
  }
}

async function undo(client: ApiClient, session: string): Promise<unknown> {
  const action = await client.undo(session, undefined, []);
  for (;;) {
    const events = await client.eventsAfter(session, action);
    const done = events.find(
      event =>
        event.type !== 'unknown' &&
        event.cause === action &&
        UNDONE.includes(event.type)
    );
    if (done) {
      return done;
    }
    await new Promise(resolve => setTimeout(resolve, PAUSE));
  }
}

async function inject(
  client: ApiClient,
  session: string,
  content: string
): Promise<number> {
  const { state } = await client.session(session);
  if (state !== 'running' && state !== 'rate_limited') {
    throw new ApiError(
      409,
      'not_at_work',
      'The agent is not at work.',
      'Give it a task with %%openhands.'
    );
  }
  return client.sendMessage(session, content);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
