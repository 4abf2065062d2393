import type { ILiveItem } from '../frames';
import { LiveTexts } from '../live';

function item(
  offset: number,
  text: string,
  change: Partial<ILiveItem> = {}
): ILiveItem {
  return { kind: 'output', cause: 7, offset, text, end: false, ...change };
}

describe('LiveTexts', () => {
  let live: LiveTexts;

  beforeEach(() => {
    live = new LiveTexts();
  });

  it('joins the pieces of a text', () => {
    live.apply([item(0, 'ab'), item(2, 'cd')]);
    expect(live.output(7)?.text).toBe('abcd');
  });

  it('counts characters as the server does', () => {
    live.apply([item(0, '😀é'), item(2, '!')]);
    expect(live.output(7)?.text).toBe('😀é!');
  });

  it('lets a text that begins again replace what there was', () => {
    live.apply([item(0, 'a😀c'), item(1, 'X')]);
    expect(live.output(7)?.text).toBe('aX');
    live.apply([item(0, 'new')]);
    expect(live.output(7)?.text).toBe('new');
  });

  it('says when the beginning is missing', () => {
    live.apply([item(100, 'tail')]);
    expect(live.output(7)).toMatchObject({ text: 'tail', cut: true });
  });

  it('keeps only the end of a very long text, and goes on behind it', () => {
    const long = 'x'.repeat(200_000);
    live.apply([item(0, long), item(200_000, 'end')]);
    const text = live.output(7)!;
    expect(text.text.length).toBeLessThan(150_000);
    expect(text.text.endsWith('xend')).toBe(true);
    expect(text.cut).toBe(true);
  });

  it('keeps texts of different kinds and causes apart', () => {
    live.apply([
      item(0, 'a'),
      item(0, 'b', { kind: 'text' }),
      item(0, 'c', { cause: 8 })
    ]);
    expect(live.all.map(({ text }) => text)).toEqual(['a', 'b', 'c']);
  });

  it('shows a text that has ended until its event is there', () => {
    live.apply([item(0, 'a'), item(0, '', { end: true })]);
    expect(live.output(7)?.text).toBe('a');
    expect(live.dropEnded()).toBe(true);
    expect(live.output(7)).toBeUndefined();
    expect(live.dropEnded()).toBe(false);
  });

  it('begins anew after an end', () => {
    live.apply([item(0, 'old'), item(0, '', { end: true }), item(0, 'new')]);
    expect(live.dropEnded()).toBe(false);
    expect(live.output(7)?.text).toBe('new');
  });
});
