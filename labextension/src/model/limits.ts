import type { TranslationBundle } from '@jupyterlab/translation';
import type { ISessionChange } from './client';
import type {
  ChangeSettingsAction,
  LimitWarningObservation,
  StuckObservation
} from './events';
import type { ISessionInfo } from './frames';

/**
 * What is used of one thing that a session may take: steps, US dollars, tokens or minutes of work.
 */
export interface ILimitUse {
  limit: LimitWarningObservation['limit'];
  used: number;
  /** 0 where there is no limit. */
  allowed: number;
  /** The limit that an extension sets. */
  extended: number;
  /** Tokens in `used` at a price that was assumed. */
  assumed?: number;
}

/**
 * What the limits are called where they are changed.
 */
export const LIMIT_SETTINGS = {
  steps: 'step_limit',
  cost: 'cost_limit',
  tokens: 'token_limit',
  time: 'time_limit'
} as const;

export type LimitSetting = (typeof LIMIT_SETTINGS)[ILimitUse['limit']];

/**
 * The limits of which a session has taken all.
 */
export function reachedLimits(info: ISessionInfo): ILimitUse[] {
  return info.limits.filter(({ limit, used, allowed }) =>
    limit === 'steps'
      ? info.steps >= info.step_limit
      : allowed > 0 && used >= allowed
  );
}

/**
 * The change that lets a session go on that has taken all; null where it may go on as it is.
 */
export function extensionOf(info: ISessionInfo): ISessionChange | null {
  // Who runs a session for another reason does not mean to extend anything.
  const reached = info.state === 'paused' ? reachedLimits(info) : [];
  return reached.length > 0
    ? Object.fromEntries(
        reached.map(use => [LIMIT_SETTINGS[use.limit], use.extended])
      )
    : null;
}

/**
 * How much more an extension gives, as what a button does.
 */
export function extensionText(
  trans: TranslationBundle,
  { limit, used, extended }: ILimitUse
): string {
  const more = extended - used;
  switch (limit) {
    case 'steps':
      return trans.__('Run %1 more steps', more);
    case 'cost':
      return trans.__('Run for $%1 more', more.toFixed(2));
    case 'tokens':
      return trans.__('Run for %1 more tokens', grouped(more));
    case 'time':
      return trans.__('Run for %1 more minutes', Math.round(more));
  }
}

/**
 * Name a limit.
 */
export function limitText(
  trans: TranslationBundle,
  limit: ILimitUse['limit']
): string {
  switch (limit) {
    case 'steps':
      return trans.__('Steps');
    case 'cost':
      return trans.__('US dollars');
    case 'tokens':
      return trans.__('Tokens');
    case 'time':
      return trans.__('Minutes of work');
  }
}

/**
 * So many steps, US dollars, tokens or minutes, as a number that is read.
 */
export function amountText(limit: ILimitUse['limit'], value: number): string {
  switch (limit) {
    case 'steps':
    case 'tokens':
      return grouped(value);
    case 'cost':
      return `$${value.toFixed(2)}`;
    case 'time':
      return value.toFixed(1);
  }
}

/**
 * Say what is used of a limit.
 */
export function usedText(
  trans: TranslationBundle,
  { limit, used, allowed }: Pick<ILimitUse, 'limit' | 'used' | 'allowed'>
): string {
  const amount = amountText(limit, used);
  const text =
    allowed > 0
      ? trans.__('%1 of %2', amount, amountText(limit, allowed))
      : amount;
  switch (limit) {
    case 'steps':
      return trans.__('Steps: %1', text);
    case 'cost':
      return trans.__('Cost: %1', text);
    case 'tokens':
      return trans.__('Tokens: %1', text);
    case 'time':
      return trans.__('Minutes of work: %1', text);
  }
}

/**
 * Say which limits were set, a sentence each.
 */
export function newLimitsText(
  trans: TranslationBundle,
  change: ChangeSettingsAction
): string {
  const told = (Object.keys(LIMIT_SETTINGS) as ILimitUse['limit'][]).flatMap(
    limit => {
      const allowed = change[LIMIT_SETTINGS[limit]] ?? null;
      return allowed === null
        ? []
        : [
            allowed > 0
              ? trans.__(
                  '%1: at most %2.',
                  limitText(trans, limit),
                  grouped(allowed)
                )
              : trans.__('%1: no limit.', limitText(trans, limit))
          ];
    }
  );
  return told.join(' ');
}

/**
 * Say what a loop looks like.
 */
export function loopText(
  trans: TranslationBundle,
  { pattern, times, length = 1 }: StuckObservation
): string {
  switch (pattern) {
    case 'same_action':
      return trans.__('The same action had the same result %1 times.', times);
    case 'same_error':
      return trans.__('The same error came %1 times in a row.', times);
    case 'cycle':
      return trans.__(
        'The same %1 steps were done %2 times in turn.',
        length,
        times
      );
    case 'monologue':
      return trans.__(
        '%1 messages or thoughts followed each other, and nothing was done.',
        times
      );
    case 'condensing':
      return trans.__(
        'The history was condensed %1 times and did not get shorter.',
        times
      );
  }
}

function grouped(value: number): string {
  return value.toLocaleString(undefined, { maximumFractionDigits: 2 });
}
