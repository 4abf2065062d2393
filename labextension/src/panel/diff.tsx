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
  path: string;
}

/**
 * What changed in a file, removed and added lines together, unchanged lines folded.
 */
export function Diff({ before, after, path }: IDiffProps): JSX.Element {
  const { languages, trans } = useServices();
  const host = useRef<HTMLDivElement>(null);

  useEffect(() => {
    let view: EditorView | null = null;
    let current = true;
    const show = (language: Extension): void => {
      if (current && host.current) {
        view = new EditorView({
          parent: host.current,
          doc: revealHidden(after),
          extensions: [
            jupyterTheme,
            language,
            EditorState.readOnly.of(true),
            EditorView.editable.of(false),
            EditorView.lineWrapping,
            EditorState.phrases.of({
              '$ unchanged lines': trans.__('$ unchanged lines')
            }),
            EditorView.contentAttributes.of({
              'aria-label': trans.__('Changes of %1', path),
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
    const found = languages.findByFileName(path);
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
  }, [languages, trans, before, after, path]);

  return <div ref={host} className="jp-OpenHands-diff" />;
}
