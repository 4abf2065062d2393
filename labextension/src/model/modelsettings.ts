import type { TranslationBundle } from '@jupyterlab/translation';

/**
 * Those settings of the model that are numbers.
 */
export const MODEL_NUMBERS = [
  'context_window',
  'max_output_tokens',
  'model_timeout',
  'model_retries'
] as const;

/**
 * Settings of the model beside its name and address.
 */
export type ModelSetting =
  | 'fallback_models'
  | 'vision'
  | 'tool_calls'
  | 'prompt_caching'
  | 'reasoning_effort'
  | (typeof MODEL_NUMBERS)[number];

/**
 * What stands beside a setting of the model.
 */
export function modelSettingText(
  trans: TranslationBundle,
  name: ModelSetting
): string {
  switch (name) {
    case 'fallback_models':
      return trans.__('Other models if it fails');
    case 'vision':
      return trans.__('Images are shown to the model');
    case 'tool_calls':
      return trans.__('The model calls tools');
    case 'prompt_caching':
      return trans.__('The provider is told what to keep of a prompt');
    case 'reasoning_effort':
      return trans.__('The model thinks before it answers');
    case 'context_window':
      return trans.__('Window, in tokens');
    case 'max_output_tokens':
      return trans.__('Longest answer, in tokens');
    case 'model_timeout':
      return trans.__('Seconds of silence until a call is given up');
    case 'model_retries':
      return trans.__('Times that it is asked again');
  }
}

/**
 * The settings that advice on models speaks of by the names that they have in files.
 */
const ADVISED = ['context_window', 'tool_calls', 'vision'] as const;

/**
 * Advice of the server's, with the settings called as they are in the panel.
 */
export function adviceText(trans: TranslationBundle, advice: string): string {
  return ADVISED.reduce(
    (text, name) =>
      text.replace(
        new RegExp(`\\b${name}\\b`, 'g'),
        trans.__('“%1”', modelSettingText(trans, name))
      ),
    advice
  );
}
