import type { TranslationBundle } from '@jupyterlab/translation';
import type { IConfigProblem, ISettings } from './client';
import { revealOnOneLine } from './inert';

/**
 * Where a value comes from.
 */
export interface IOrigin {
  origin: string;
  /** The file, or the name of the variable; empty for a default. */
  where?: string;
  /** Of the file, from 1. */
  line?: number | null;
}

/**
 * Say where a setting's value comes from.
 */
export function originText(trans: TranslationBundle, from: IOrigin): string {
  const line = from.line ?? null;
  switch (from.origin) {
    case 'default':
      return trans.__('Default');
    case 'panel':
      return trans.__('Set here');
    case 'environment':
      return from.where
        ? trans.__('From the environment (%1)', from.where)
        : trans.__('From the environment');
    case 'config.toml':
      return line === null
        ? trans.__('From your config.toml')
        : trans.__('From your config.toml, line %1', line);
    case 'project config.toml':
      return line === null
        ? trans.__('From the config.toml of this folder')
        : trans.__('From the config.toml of this folder, line %1', line);
    case 'traitlets':
      return trans.__('From the configuration of the server');
    default:
      return trans.__('From %1', from.origin);
  }
}

/**
 * Say what of the configuration is not in force, where that is written, and why.
 */
export function configProblemText(
  trans: TranslationBundle,
  problem: IConfigProblem
): string {
  const where =
    problem.line === null
      ? problem.where
      : trans.__('%1, line %2', problem.where, problem.line);
  const text = trans.__('%1: %2', where, problem.message);
  return revealOnOneLine(
    problem.severity === 'error' ? trans.__('Error. %1', text) : text
  );
}

/**
 * Whether the administrator has locked a setting.
 */
export function someLocked(settings: ISettings): boolean {
  return Object.values(settings.settings).some(({ locked }) => locked);
}
