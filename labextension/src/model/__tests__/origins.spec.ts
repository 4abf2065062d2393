import type { ISetting, ISettings } from '../client';
import { configProblemText, originText, someLocked } from '../origins';
import { trans } from './translation';

const FILE = '/home/ada/.openhands/config.toml';

describe('originText', () => {
  it.each([
    [{ origin: 'default', where: '', line: null }, 'Default'],
    [{ origin: 'panel', where: '/x/settings.json', line: null }, 'Set here'],
    [{ origin: 'environment' }, 'From the environment'],
    [
      { origin: 'environment', where: 'LLM_MODEL', line: null },
      'From the environment (LLM_MODEL)'
    ],
    [
      { origin: 'config.toml', where: FILE, line: 3 },
      'From your config.toml, line 3'
    ],
    [{ origin: 'config.toml' }, 'From your config.toml'],
    [
      { origin: 'project config.toml', where: FILE, line: 7 },
      'From the config.toml of this folder, line 7'
    ],
    [
      { origin: 'traitlets', where: 'c.OpenHandsExtension.model' },
      'From the configuration of the server'
    ]
  ])('of %j', (origin, text) => {
    expect(originText(trans, origin)).toBe(text);
  });
});

describe('configProblemText', () => {
  it('says where, and what is an error', () => {
    const message = 'llm.modle is left out.';
    const problem = { where: FILE, line: 3, message };
    expect(configProblemText(trans, { severity: 'error', ...problem })).toBe(
      `Error. ${FILE}, line 3: ${message}`
    );
    expect(
      configProblemText(trans, {
        severity: 'warning',
        where: 'environment',
        line: null,
        message: 'A file’s \u202ename'
      })
    ).not.toContain('\u202e');
  });
});

describe('someLocked', () => {
  it('tells whether an administrator has locked anything', () => {
    const settings = (locked: boolean): ISettings => {
      const mode: ISetting = {
        value: 'ask',
        origin: 'default',
        where: '',
        line: null,
        locked
      };
      return { settings: { mode }, secrets: [], problems: [] };
    };
    expect([someLocked(settings(true)), someLocked(settings(false))]).toEqual([
      true,
      false
    ]);
  });
});
