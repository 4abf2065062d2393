import type { ILiveItem, LiveKind } from './frames';

/**
 * Characters of one text that are kept: its tail.
 */
const KEPT = 64 * 1024;

/**
 * A text that is still being written.
 */
export interface ILiveText {
  kind: LiveKind;
  cause: number;
  text: string;
  /** Whether text before `text` was left out. */
  cut: boolean;
}

interface IGrowing extends ILiveText {
  /** Whether it is complete or given up. */
  ended: boolean;
  /** Code points of the whole text so far, those left out included. */
  length: number;
}

/**
 * The texts of a session that are still being written, by kind and cause.
 */
export class LiveTexts {
  /**
   * The texts, in the order in which they began.
   */
  get all(): ILiveText[] {
    return [...this._texts.values()];
  }

  /**
   * The output so far of a running action; undefined if there is none yet.
   */
  output(action: number): ILiveText | undefined {
    return this._texts.get(key('output', action));
  }

  /**
   * Take in what the server sent.
   */
  apply(items: ILiveItem[]): void {
    for (const item of items) {
      if (item.end) {
        this._end(key(item.kind, item.cause));
      } else {
        this._write(item);
      }
    }
  }

  /**
   * Forget the texts that have ended.
   *
   * They stay until then, because the event that holds such a text comes a moment later: between
   * the two the text would vanish.
   *
   * @returns Whether there was one.
   */
  dropEnded(): boolean {
    const before = this._texts.size;
    this._texts.forEach((text, name) => {
      if (text.ended) {
        this._texts.delete(name);
      }
    });
    return this._texts.size < before;
  }

  /**
   * Forget everything, because the server sends it anew.
   */
  clear(): void {
    this._texts.clear();
  }

  private _end(name: string): void {
    const text = this._texts.get(name);
    if (text) {
      this._texts.set(name, { ...text, ended: true });
    }
  }

  private _write(item: ILiveItem): void {
    const name = key(item.kind, item.cause);
    const known = this._texts.get(name);
    const previous = known?.ended ? undefined : known;
    const { kind, cause, offset } = item;
    const end = previous?.length ?? 0;
    const length = offset + countCodePoints(item.text);
    let text = item.text;
    let cut = offset > 0;
    if (previous && offset <= end) {
      text = dropLast(previous.text, end - offset) + text;
      cut = previous.cut;
    }
    if (text.length > 2 * KEPT) {
      text = text.slice(-KEPT);
      cut = true;
    }
    this._texts.set(name, {
      kind,
      cause,
      text,
      cut,
      length,
      ended: false
    });
  }

  private _texts = new Map<string, IGrowing>();
}

function key(kind: LiveKind, cause: number): string {
  return `${kind}:${cause}`;
}

function countCodePoints(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length - 1; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit <= 0xdbff) {
      count--;
      i++;
    }
  }
  return count;
}

function dropLast(text: string, count: number): string {
  if (count === 0) {
    return text;
  }
  const points = [...text];
  return points.slice(0, Math.max(0, points.length - count)).join('');
}
