import { unifiedMergeView } from '@codemirror/merge';
import type { Extension } from '@codemirror/state';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { jupyterTheme } from '@jupyterlab/codemirror';
import { useEffect, useRef } from 'react';
import { revealHidden } from '../model/inert';
import { useServices } from './services';

interface IDiffProps {
  before: string;
  after: string;
  /** What changed, to be told to screen readers. */
  name: string;
  /** Name of its language; found by its name, which is a path, where it is left out. */
  language?: string;
}

/**
 * What changed in a text, removed and added lines together, unchanged lines folded.
 */
export function Diff(props: IDiffProps): JSX.Element {
  const { before, after, name, language } = props;
  const { languages, trans } = useServices();
  const host = useRef<HTMLDivElement>(null);

  useEffect(() => {
    let view: EditorView | null = null;
    let current = true;
    const show = (highlighting: Extension): void => {
      if (current && host.current) {
        view = new EditorView({
          parent: host.current,
          doc: revealHidden(after),
          extensions: [
            jupyterTheme,
            highlighting,
            EditorState.readOnly.of(true),
            EditorView.editable.of(false),
            EditorView.lineWrapping,
            EditorState.phrases.of({
              '$ unchanged lines': trans.__('$ unchanged lines')
            }),
            EditorView.contentAttributes.of({
              'aria-label': trans.__('Changes of %1', name),
              tabindex: '0'
            }),
            unifiedMergeView({
              original: revealHidden(before),
              mergeControls: false,
              collapseUnchanged: { margin: 2, minSize: 4 }
            })
          ]
        });
      }
    };
    const found = language
      ? languages.findByName(language)
      : languages.findByFileName(name);
    if (found) {
      void languages
        .getLanguage(found)
        .then(loaded => show(loaded?.support ?? []));
    } else {
      show([]);
    }
    return () => {
      current = false;
      view?.destroy();
    };
  }, [languages, trans, before, after, name, language]);

  return <div ref={host} className="jp-OpenHands-diff" />;
}
