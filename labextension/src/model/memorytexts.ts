import type { TranslationBundle } from '@jupyterlab/translation';
import type { CondensationAction, QuarantineAction } from './events';

/**
 * In a line, what the model is no longer shown from here on.
 */
export function condensationText(
  trans: TranslationBundle,
  event: CondensationAction
): string {
  const what =
    event.condenser === 'llm'
      ? trans.__('The model goes on with a summary of older steps')
      : event.forgotten_end !== null && event.forgotten_end !== undefined
        ? trans.__('The model is no longer shown older steps')
        : trans._n(
            'The model is no longer shown %1 old result',
            'The model is no longer shown %1 old results',
            event.masked?.length ?? 0
          );
  return trans.__(
    '%1: about %2 tokens became %3',
    what,
    (event.tokens_before ?? 0).toLocaleString(),
    (event.tokens_after ?? 0).toLocaleString()
  );
}

/**
 * In a line, what the model is no longer shown because its provider refused it.
 */
export function quarantineText(
  trans: TranslationBundle,
  event: QuarantineAction
): string {
  return event.only_images
    ? trans.__(
        'The model goes on without images that its provider did not accept'
      )
    : trans._n(
        'The model goes on without a step that its provider did not accept',
        'The model goes on without %1 steps that its provider did not accept',
        event.items.length
      );
}
