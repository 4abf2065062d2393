import type { IPython, ISettings } from './client';

/**
 * Settings of the Python, of the limits, and of the life of sandboxes.
 */
export type EnvironmentSetting = 'python' | 'requirements' | NumberSetting;

/**
 * Those of them that are numbers.
 */
export const NUMBERS = [
  'memory_limit',
  'process_limit',
  'cpu_limit',
  'disk_limit',
  'prewarm',
  'idle_timeout'
] as const;

export type NumberSetting = (typeof NUMBERS)[number];

/**
 * The Python that a value of the setting means; undefined for one that was not found here.
 */
export function pythonOf(
  pythons: readonly IPython[],
  value: string
): IPython | undefined {
  return pythons.find(python => python.value === value);
}

/**
 * The names of the secrets that a person may allow into a sandbox.
 */
export function secretsForSandbox(settings: ISettings | null): string[] {
  return (settings?.secrets ?? [])
    .filter(secret => secret.for_sandbox)
    .map(secret => secret.name);
}

/**
 * The allowed names with one more or one less.
 */
export function withSecret(
  allowed: readonly string[],
  name: string,
  allow: boolean
): string[] {
  const others = allowed.filter(other => other !== name);
  return allow ? [...others, name].sort() : others;
}
