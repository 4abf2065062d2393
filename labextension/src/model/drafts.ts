/**
 * Key of the draft that belongs to no session yet.
 */
const NEW = '';

/**
 * What was typed but not sent, by session.
 */
export class Drafts {
  constructor(private _texts: Readonly<Record<string, string>>) {}

  /**
   * All of them, to be kept.
   */
  get all(): Readonly<Record<string, string>> {
    return this._texts;
  }

  /**
   * The draft for a session, or with null for the session that it will create.
   */
  get(session: string | null): string {
    return this._texts[session ?? NEW] ?? '';
  }

  set(session: string | null, text: string): void {
    const texts = { ...this._texts };
    delete texts[session ?? NEW];
    this._texts = text ? { ...texts, [session ?? NEW]: text } : texts;
  }
}
