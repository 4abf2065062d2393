/**
 * Characters that could make text look like something that it is not: controls, format characters
 * (bidirectional ones above all), everything that is drawn as nothing, and everything that is drawn
 * as a space or a line end but is none.
 */
export const DECEPTIVE =
  /(?![\t\n ])[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}]/u;

/**
 * An emoji with the invisible characters that belong into it.
 */
const EMOJI =
  /\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?(?:\u200d\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?)*/u;

const EMOJI_OR_DECEPTIVE = new RegExp(
  `(${EMOJI.source})|${DECEPTIVE.source}`,
  'gu'
);

/**
 * Make deceptive characters visible, so that what a person reads is what is there.
 *
 * A carriage return before a line feed is an ordinary line end and stays.
 */
export function revealHidden(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(EMOJI_OR_DECEPTIVE, (found, emoji?: string) =>
      emoji ? found : `⟨${codePoint(found)}⟩`
    );
}

/**
 * The same on one line, for paths and names.
 */
export function revealOnOneLine(text: string): string {
  return revealHidden(text).replace(/[\n\t]/g, c => `⟨${codePoint(c)}⟩`);
}

function codePoint(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}
