const FIRST_DELAY = 500;
const LONGEST_DELAY = 15_000;

/**
 * How long to wait before a broken connection is made anew.
 *
 * Half of it is random, so that many pages do not return all at once.
 *
 * @param attempt - How many attempts there were since it worked.
 * @returns Milliseconds.
 */
export function delayBefore(attempt: number): number {
  const delay = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** attempt);
  return delay / 2 + (Math.random() * delay) / 2;
}
