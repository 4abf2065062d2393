import type { ApiError } from '../client';

/**
 * A server that gives the answers in `answers`, the last one again and again, and notes what it
 * was asked for.
 */
export class PolledServer<T> {
  answers: T[] = [];
  asked: string[] = [];
  failing: ApiError | null = null;

  protected answer(what: string): Promise<T> {
    this.asked.push(what);
    if (this.failing) {
      return Promise.reject(this.failing);
    }
    const answer =
      this.answers.length > 1 ? this.answers.shift() : this.answers[0];
    return Promise.resolve(answer!);
  }

  protected take(what: string): Promise<void> {
    this.asked.push(what);
    return Promise.resolve();
  }
}
