import type { ISettings } from '../client';
import { pythonOf, secretsForSandbox, withSecret } from '../environment';
import { secret } from './samples';

describe('environment', () => {
  it('offers only the secrets that a sandbox may have', () => {
    const settings: ISettings = {
      settings: {},
      secrets: [
        secret({ name: 'LLM_API_KEY', for_sandbox: false, why_not: 'No.' }),
        secret({ name: 'TOKEN' })
      ],
      problems: []
    };
    expect(secretsForSandbox(settings)).toEqual(['TOKEN']);
    expect(secretsForSandbox(null)).toEqual([]);
  });

  it('adds and removes one secret and leaves the others', () => {
    expect(withSecret(['B'], 'A', true)).toEqual(['A', 'B']);
    expect(withSecret(['A', 'B'], 'A', true)).toEqual(['A', 'B']);
    expect(withSecret(['A', 'B'], 'A', false)).toEqual(['B']);
  });

  it('finds the Python that is meant, the own one too', () => {
    const own = {
      value: '',
      label: '',
      path: '/a',
      version: '3.11',
      problem: ''
    };
    expect(pythonOf([own], '')).toBe(own);
    expect(pythonOf([own], 'other')).toBeUndefined();
  });
});
