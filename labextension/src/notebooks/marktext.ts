import { Time } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { revealOnOneLine } from '../model/inert';

/**
 * Characters of a value that are shown.
 */
const LONGEST = 100;

/**
 * Say where a cell comes from, in a few lines of inert text.
 *
 * @param provenance What the notebook claims.
 */
export function markText(
  trans: TranslationBundle,
  provenance: Record<string, unknown>
): string {
  const text = (name: string): string => {
    const value = provenance[name];
    return typeof value === 'string'
      ? revealOnOneLine(value.slice(0, LONGEST))
      : '';
  };
  const model = text('model');
  const approver = approverText(trans, text('approver'));
  const session = text('session');
  const time = dateText(text('time'));
  const { from_code: code } = provenance;
  return [
    // Whoever sends a notebook can write there what they like.
    trans.__('This notebook says:'),
    trans.__('Changed by the OpenHands agent, not accepted yet'),
    model && trans.__('Model: %1', model),
    approver,
    session && trans.__('Session: %1', session),
    time && trans.__('Time: %1', time),
    typeof code === 'number'
      ? trans.__('From code that ran in the sandbox: event %1', code)
      : ''
  ]
    .filter(line => line !== '')
    .join('\n');
}

function approverText(trans: TranslationBundle, approver: string): string {
  switch (approver) {
    case '':
      return '';
    case 'user':
      return trans.__('Approved by a person');
    case 'nobody':
      return trans.__('Made without a question');
    default:
      return trans.__('Approved by: %1', approver);
  }
}

function dateText(time: string): string {
  return Number.isNaN(Date.parse(time)) ? time : Time.format(time);
}
