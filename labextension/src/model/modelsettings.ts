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
  | 'reasoning_effort'
  | (typeof MODEL_NUMBERS)[number];
