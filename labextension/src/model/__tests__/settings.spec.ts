import type { ISettings } from '../client';
import { textOf, toChange } from '../settings';

const PLACE = { origin: 'panel', where: '', line: null, locked: false };
const SETTINGS: ISettings = {
  settings: {
    model: { ...PLACE, value: 'tour' },
    prewarm: { ...PLACE, value: 0 },
    python: { ...PLACE, value: null },
    network_rules: { ...PLACE, value: ['a.org', 'b.org'] }
  },
  secrets: [],
  problems: []
};

describe('settings', () => {
  it('stand in their fields as text', () => {
    expect(textOf(SETTINGS, {}, 'model')).toBe('tour');
    expect(textOf(SETTINGS, {}, 'prewarm')).toBe('0');
    expect(textOf(SETTINGS, {}, 'python')).toBe('');
    expect(textOf(SETTINGS, {}, 'network_rules')).toBe('a.org\nb.org');
  });

  it('show what was typed, and nothing for what is taken back', () => {
    const draft = { model: 'openai/x', prewarm: null, python: '' };
    expect(textOf(SETTINGS, draft, 'model')).toBe('openai/x');
    expect(textOf(SETTINGS, draft, 'prewarm')).toBe('');
    expect(textOf(SETTINGS, draft, 'python')).toBe('');
  });

  it('are sent as numbers and lists where they are that', () => {
    const draft = {
      model: 'openai/x',
      step_limit: '5',
      prewarm: '0',
      idle_timeout: '1.5',
      memory_limit: null,
      network_rules: 'a.org, b.org\nc.org'
    };
    expect(toChange(draft)).toEqual({
      model: 'openai/x',
      step_limit: 5,
      prewarm: 0,
      idle_timeout: 1.5,
      memory_limit: null,
      network_rules: ['a.org', 'b.org', 'c.org']
    });
  });
});
