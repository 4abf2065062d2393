import { useState } from 'react';
import type { Blob as StoredBlob } from '../model/events';
import { problemText } from '../model/texts';
import { useServices } from './services';

interface IStoredNoteProps {
  /** Text, or the preview of a text that is kept beside the log. */
  content: string | StoredBlob | null | undefined;
  /** Name for the file that it can be saved as. */
  name: string;
}

/**
 * Says that only a part of a text is shown, and gives the whole; nothing for a text that is whole.
 */
export function StoredNote(props: IStoredNoteProps): JSX.Element | null {
  const { content, name } = props;
  const { model, trans } = useServices();
  const [problem, setProblem] = useState('');
  const session = model.current?.id;
  if (typeof content === 'string' || !content || session === undefined) {
    return null;
  }
  const save = async (): Promise<void> => {
    try {
      saveAs(await model.client.blob(session, content.sha256), name);
    } catch (error) {
      setProblem(problemText(trans, error).message);
    }
  };
  return (
    <p className="jp-OpenHands-quiet">
      {trans.__(
        'Too long to be shown whole (%1 kB); the middle is left out.',
        Math.ceil(content.size / 1000)
      )}{' '}
      <button
        type="button"
        className="jp-OpenHands-textButton"
        onClick={() => void save()}
      >
        {trans.__('Download the whole')}
      </button>{' '}
      {problem}
    </p>
  );
}

function saveAs(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
