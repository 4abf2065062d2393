import type { TranslationBundle } from '@jupyterlab/translation';

function fill(text: string, values: unknown[]): string {
  return text.replace(/%(\d)/g, (_, i: string) =>
    String(values[Number(i) - 1])
  );
}

/**
 * Texts as they are, with their values.
 */
export const trans = {
  __: (text: string, ...values: unknown[]) => fill(text, values),
  _n: (one: string, many: string, n: number) => fill(n === 1 ? one : many, [n])
} as unknown as TranslationBundle;
