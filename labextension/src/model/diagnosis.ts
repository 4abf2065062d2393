import type { TranslationBundle } from '@jupyterlab/translation';
import type { AgentState } from './frames';

/**
 * What a session waits for, as the server says.
 */
export interface IDiagnosis {
  waits_for:
    'person' | 'model' | 'sandbox' | 'kernel' | 'notebook' | 'tools' | 'server';
  seconds: number;
  summary: string;
  hint: string;
  /** Names of the programs that run in the sandbox, where it is waited for. */
  processes: readonly string[];
  /** Id of the newest event. */
  last_id: number;
}

/**
 * Milliseconds without anything new after which a session at work is called quiet.
 */
export const QUIET_AFTER = 20_000;

/**
 * Whether nothing new has come for long from a session that is at work.
 *
 * @param newsAt - When the last news came, in milliseconds.
 */
export function isQuiet(
  state: AgentState,
  newsAt: number,
  now: number
): boolean {
  return state === 'running' && now - newsAt >= QUIET_AFTER;
}

/**
 * Say for how long nothing new has come.
 */
export function quietText(
  trans: TranslationBundle,
  newsAt: number,
  now: number
): string {
  const seconds = Math.floor((now - newsAt) / 1000);
  return seconds < 120
    ? trans.__('Nothing new for %1 seconds.', seconds)
    : trans.__('Nothing new for %1 minutes.', Math.floor(seconds / 60));
}

/**
 * Name what is waited for.
 */
export function serviceText(
  trans: TranslationBundle,
  service: IDiagnosis['waits_for']
): string {
  switch (service) {
    case 'person':
      return trans.__('It waits for you.');
    case 'model':
      return trans.__('It waits for the model.');
    case 'sandbox':
      return trans.__('It waits for the sandbox.');
    case 'kernel':
      return trans.__('It waits for your kernel.');
    case 'notebook':
      return trans.__('It waits for a notebook.');
    case 'tools':
      return trans.__('It waits for an MCP server.');
    case 'server':
      return trans.__('It waits for the Jupyter server.');
  }
}

/**
 * Whether the server has gone on without this page.
 *
 * @param lastId - Id of the newest event that the page has.
 */
export function missesEvents(diagnosis: IDiagnosis, lastId: number): boolean {
  return diagnosis.last_id > lastId;
}
