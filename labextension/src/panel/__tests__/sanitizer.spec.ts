import { InertSanitizer } from '../sanitizer';

/**
 * What lets everything through, so that only what is added is tested.
 */
const through = new InertSanitizer({ sanitize: dirty => dirty });

describe('InertSanitizer', () => {
  it.each([
    ['an image', '<img src="https://evil.org/?d=1">', 'https://evil.org/?d=1'],
    [
      'an image with a name',
      '<img alt="chart" src="https://evil.org/">',
      'chart'
    ],
    ['an image of this server', '<img alt="x" src="/files/secret.png">', 'x'],
    [
      'candidates for an image',
      '<img alt="x" srcset="https://evil.org/ 2x">',
      'x'
    ],
    ['a film', '<video src="https://evil.org/"></video>', 'https://evil.org/'],
    ['the poster of a film', '<video poster="//evil.org/"></video>', 'VIDEO'],
    [
      'a background',
      '<table background="//evil.org/"><tr><td>1</td></tr></table>',
      'TABLE'
    ],
    ['a style', '<p style="background: url(//evil.org/)">x</p>', 'x']
  ])('fetches nothing for %s', (_, html, left) => {
    const host = document.createElement('div');
    host.innerHTML = through.sanitize(html);
    expect(
      host.querySelectorAll('[src], [srcset], [poster], [background], [style]')
    ).toHaveLength(0);
    expect(host.textContent).toBe(left);
  });

  it('leaves an image that is there already', () => {
    const html = '<img src="data:image/png;base64,AA==">';
    expect(through.sanitize(html)).toBe(html);
  });

  it('takes commands off links and lets them open elsewhere', () => {
    const html = through.sanitize(
      '<a href="x" data-commandlinker-command="do" data-commandlinker-args="{}">y</a>'
    );
    expect(html).not.toContain('commandlinker');
    expect(html).toContain('target="_blank"');
    expect(html).toContain('noopener');
  });

  it('leaves nothing that can be sent', () => {
    const html = through.sanitize('<form><button>Go</button></form>');
    expect(html).toBe('<button>Go</button>');
  });

  it('hands on what the sanitizer below gives', () => {
    const strict = new InertSanitizer({ sanitize: () => 'clean' });
    expect(strict.sanitize('<b>dirty</b>')).toBe('clean');
  });
});
