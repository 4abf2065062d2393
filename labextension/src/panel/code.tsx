import { useLayoutEffect, useRef } from 'react';
import { revealHidden } from '../model/inert';
import { useServices } from './services';

interface ICodeProps {
  text: string;
  /** Name of a language, such as `python`. */
  language?: string;
  /** Path of a file, to find the language by. */
  path?: string;
  label: string;
}

/**
 * Code as inert text: highlighted, hidden characters made visible.
 */
export function Code({ text, language, path, label }: ICodeProps): JSX.Element {
  const { languages } = useServices();
  const host = useRef<HTMLPreElement>(null);
  const inert = revealHidden(text);

  // React must not own the text, because highlighting replaces it.
  useLayoutEffect(() => {
    host.current!.textContent = inert;
    let current = true;
    const found = language
      ? languages.findByName(language)
      : languages.findByFileName(path ?? '');
    const draft = document.createElement('div');
    void languages.highlight(inert, found, draft).then(() => {
      if (current) {
        host.current?.replaceChildren(...draft.childNodes);
      }
    });
    return () => {
      current = false;
    };
  }, [languages, inert, language, path]);

  return (
    <pre
      ref={host}
      className="jp-OpenHands-code"
      aria-label={label}
      role="group"
      tabIndex={0}
    />
  );
}
