import type { IRenderMime } from '@jupyterlab/rendermime';

/**
 * What makes a browser fetch something as soon as it is in the page.
 */
const FETCHING = ['src', 'srcset', 'poster', 'background'];

const INTERESTING = new RegExp(
  `<a\\b|<form\\b|commandlinker|url\\s*\\(|\\b(?:${FETCHING.join('|')})\\s*=`,
  'i'
);

/**
 * JupyterLab's sanitizer, and on top of it: nothing is fetched from elsewhere, no link runs a
 * command, links open in a tab of their own, and no form can be sent.
 *
 * Text of a model or of the web could otherwise send what it knows to any address, by an image that
 * is fetched when it is shown.
 */
export class InertSanitizer implements IRenderMime.ISanitizer {
  constructor(private readonly _base: IRenderMime.ISanitizer) {}

  readonly allowCommandLinker = false;

  readonly allowNamedProperties = false;

  getAutolink(): boolean {
    return this._base.getAutolink?.() ?? true;
  }

  sanitize(dirty: string, options?: IRenderMime.ISanitizerOptions): string {
    const clean = this._base.sanitize(dirty, options);
    if (!INTERESTING.test(clean)) {
      return clean;
    }
    // A document made by the parser fetches nothing and runs nothing.
    const { body } = new DOMParser().parseFromString(clean, 'text/html');
    body.querySelectorAll('*').forEach(makeInert);
    return body.innerHTML;
  }
}

function makeInert(element: Element): void {
  for (const { name } of [...element.attributes]) {
    if (name.startsWith('data-commandlinker')) {
      element.removeAttribute(name);
    }
  }
  if (/url\s*\(/i.test(element.getAttribute('style') ?? '')) {
    element.removeAttribute('style');
  }
  if (element instanceof HTMLFormElement) {
    // Sent, it would replace JupyterLab's page.
    element.replaceWith(...element.childNodes);
  }
  if (element instanceof HTMLAnchorElement) {
    element.target = '_blank';
    element.rel = 'noopener noreferrer';
  }
  const remote = FETCHING.some(name => {
    const value = element.getAttribute(name);
    return value !== null && !value.trim().startsWith('data:image/');
  });
  if (remote) {
    element.replaceWith(substitute(element));
  }
}

/**
 * A link or a name in place of something that would be fetched.
 */
function substitute(element: Element): Node {
  const source = element.getAttribute('src') ?? '';
  const name = element.getAttribute('alt') || source || element.tagName;
  if (!/^https?:\/\//i.test(source)) {
    return element.ownerDocument.createTextNode(name);
  }
  const link = element.ownerDocument.createElement('a');
  link.href = source;
  link.target = '_blank';
  link.rel = 'noopener noreferrer';
  link.textContent = name;
  return link;
}
