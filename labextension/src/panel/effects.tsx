import type { NameChanges, TouchedFiles } from '../model/events';
import { nameChangesText, touchedFilesText } from '../model/runtexts';
import { useServices } from './services';

/**
 * What became of names and files while code ran, as far as it is known.
 */
export function Effects(props: {
  names?: NameChanges | null;
  files?: TouchedFiles | null;
}): JSX.Element {
  const { trans } = useServices();
  const names = props.names ? nameChangesText(trans, props.names) : '';
  const files = props.files ? touchedFilesText(trans, props.files) : '';
  return (
    <>
      {names && (
        <p className="jp-OpenHands-why jp-OpenHands-quiet">
          {trans.__('Variables noticed: %1', names)}
        </p>
      )}
      {files && (
        <p className="jp-OpenHands-why jp-OpenHands-quiet">
          {trans.__('Files, meanwhile: %1', files)}
        </p>
      )}
    </>
  );
}
