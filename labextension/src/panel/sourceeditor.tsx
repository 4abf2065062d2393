import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { Compartment, EditorState } from '@codemirror/state';
import { EditorView, highlightSpecialChars, keymap } from '@codemirror/view';
import { jupyterTheme } from '@jupyterlab/codemirror';
import { useEffect, useRef } from 'react';
import { DECEPTIVE, revealHidden } from '../model/inert';
import { useServices } from './services';

interface ISourceEditorProps {
  /** What is edited, as it is at first. */
  text: string;
  language: string;
  label: string;
  onChange: (text: string) => void;
}

/**
 * Where a person writes source. The Tab key goes on to what follows, as everywhere in the panel.
 */
export function SourceEditor(props: ISourceEditorProps): JSX.Element {
  const { languages } = useServices();
  const host = useRef<HTMLDivElement>(null);
  const current = useRef(props);
  useEffect(() => {
    current.current = props;
  });

  useEffect(() => {
    const { text, language, label } = current.current;
    const highlighting = new Compartment();
    const view = new EditorView({
      parent: host.current!,
      doc: text,
      extensions: [
        jupyterTheme,
        highlighting.of([]),
        history(),
        keymap.of([...defaultKeymap, ...historyKeymap]),
        // Else a carriage return would be taken for a line end, and be lost.
        EditorState.lineSeparator.of('\n'),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label }),
        highlightSpecialChars({
          specialChars: new RegExp(DECEPTIVE, 'gu'),
          render: code => revealed(String.fromCodePoint(code))
        }),
        EditorView.updateListener.of(update => {
          if (update.docChanged) {
            current.current.onChange(update.state.sliceDoc());
          }
        })
      ]
    });
    view.focus();
    let shown = true;
    void languages.getLanguage(language).then(loaded => {
      if (shown && loaded?.support) {
        view.dispatch({ effects: highlighting.reconfigure(loaded.support) });
      }
    });
    return () => {
      shown = false;
      view.destroy();
    };
  }, [languages]);

  return <div ref={host} className="jp-OpenHands-sourceEditor" />;
}

function revealed(character: string): HTMLElement {
  const element = document.createElement('span');
  element.textContent = revealHidden(character);
  return element;
}
