import { nullTranslator } from '@jupyterlab/translation';
import type { NetworkRefusedObservation } from '../events';
import {
  awaitsNetwork,
  canAllow,
  entriesOf,
  placeText,
  withEntry
} from '../network';
import { accessText, refusalText } from '../texts';

const trans = nullTranslator.load('openhands_jupyter');
const place = { host: 'a.org', port: 443 };

describe('placeText', () => {
  it('names the port only where it is not the usual one', () => {
    expect(placeText(place)).toBe('a.org');
    expect(placeText({ host: 'a.org', port: 80 })).toBe('a.org:80');
  });
});

describe('canAllow', () => {
  const network = { places: ['b.org', 'a.org:80'], allowed: [], fixed: false };

  it.each([
    [network, true],
    [{ ...network, places: ['a.org'] }, false],
    [{ ...network, fixed: true }, false],
    [null, false]
  ])('of %j is %s', (given, expected) => {
    expect(canAllow(given, place)).toBe(expected);
  });
});

describe('awaitsNetwork', () => {
  it.each([
    ['allow-list', { backend: 'bubblewrap', network: null }, true],
    ['allow-list', { backend: 'docker' }, true],
    ['allow-list', { backend: 'bubblewrap', network: [] }, false],
    ['allow-list', { backend: 'landlock', network: null }, false],
    ['off', { backend: 'bubblewrap', network: null }, false]
  ])('of %s and %j is %s', (value, isolation, expected) => {
    const place = { origin: 'panel', where: '', line: null };
    const network = { value, ...place, locked: false };
    const settings = { settings: { network }, secrets: [], problems: [] };
    expect(awaitsNetwork(settings, isolation)).toBe(expected);
    expect(awaitsNetwork(null, isolation)).toBe(false);
  });
});

describe('lists in a form', () => {
  it('are parted by lines, commas and spaces', () => {
    expect(entriesOf(' a.org\n\n b.org:80,c.org ')).toEqual([
      'a.org',
      'b.org:80',
      'c.org'
    ]);
    expect(entriesOf('')).toEqual([]);
  });

  it('take an entry in once, and drop it', () => {
    expect(withEntry('npm', 'python', true)).toBe('npm\npython');
    expect(withEntry('python\nnpm', 'python', true)).toBe('npm\npython');
    expect(withEntry('python\nnpm', 'python', false)).toBe('npm');
  });
});

describe('what is said of a refusal', () => {
  const refused = (
    host: string,
    reason: NetworkRefusedObservation['reason']
  ): NetworkRefusedObservation => ({
    type: 'NetworkRefusedObservation',
    host,
    port: 443,
    reason
  });

  it('says what to do wherever a person cannot simply allow it', () => {
    const hints = (
      [
        'ip_address',
        'local_address',
        'unresolved',
        'unreachable',
        'not_listed'
      ] as const
    ).map(reason => refusalText(trans, refused('a.org', reason)).hint !== '');
    expect(hints).toEqual([true, true, true, true, false]);
  });

  it('shows a host as it is written', () => {
    const { message } = refusalText(
      trans,
      refused('a\u202eb\n<b>.org', 'not_listed')
    );
    expect(message).toBe('Network: a⟨U+202E⟩b⟨U+000A⟩<b>.org was not allowed.');
    expect(accessText(trans, place, 'revoked')).toBe(
      'Network: you no longer allow a.org.'
    );
  });
});
