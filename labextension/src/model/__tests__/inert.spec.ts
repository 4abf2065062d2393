import { revealHidden, revealOnOneLine } from '../inert';

describe('revealHidden', () => {
  it.each([
    ['a right-to-left override', 'x\u202ecod.exe', 'x⟨U+202E⟩cod.exe'],
    ['an isolate', '\u2066x\u2069', '⟨U+2066⟩x⟨U+2069⟩'],
    ['a zero-width space', 'rm\u200b-rf', 'rm⟨U+200B⟩-rf'],
    ['a no-break space', 'a\u00a0b', 'a⟨U+00A0⟩b'],
    ['a line separator', 'a\u2028b', 'a⟨U+2028⟩b'],
    ['an escape sequence', '\u001b[2K', '⟨U+001B⟩[2K'],
    ['a carriage return that overwrites', 'evil\rgood', 'evil⟨U+000D⟩good'],
    ['a tag character', 'a\u{e0041}', 'a⟨U+E0041⟩'],
    ['a lone surrogate', 'a\ud800b', 'a⟨U+D800⟩b'],
    ['a filler', 'a\u3164b', 'a⟨U+3164⟩b'],
    ['a joiner between letters', 'a\u200db', 'a⟨U+200D⟩b']
  ])('shows %s', (_, text, shown) => {
    expect(revealHidden(text)).toBe(shown);
  });

  it.each([
    ['ordinary code', 'def f(x):\n\treturn x  # é ü 漢字 עברית'],
    ['emoji with their joiners and selectors', '👩‍🚀 ⚠️ 👍🏽 ❤️'],
    ['nothing', '']
  ])('leaves %s alone', (_, text) => {
    expect(revealHidden(text)).toBe(text);
  });

  it('takes the line ends of Windows for line ends', () => {
    expect(revealHidden('a\r\nb')).toBe('a\nb');
  });
});

describe('revealOnOneLine', () => {
  it('keeps a path with a line break from looking like two lines', () => {
    expect(revealOnOneLine('a\nb\tc')).toBe('a⟨U+000A⟩b⟨U+0009⟩c');
  });
});
