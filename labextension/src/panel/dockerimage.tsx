import { useEffect, useMemo } from 'react';
import type { IImageStatus } from '../model/client';
import { DockerImage } from '../model/dockerimage';
import { imageText, megabytes, problemText } from '../model/texts';
import { Problem } from './problem';
import { useObservable, useServices } from './services';

interface IImageFieldProps {
  id: string;
  disabled: boolean;
  /** The name that was typed or is kept; empty for the default image. */
  value: string;
  /** The name that is kept. */
  kept: string;
  onChange: (name: string) => void;
}

/**
 * The name of the image of Docker sandboxes, with whether it will do, and a button to pull it.
 */
export function ImageField(props: IImageFieldProps): JSX.Element {
  const { id, disabled, value, kept, onChange } = props;
  const { model, trans } = useServices();
  const image = useMemo(() => new DockerImage(model.client), [model]);
  useObservable(image);
  useEffect(() => () => image.close(), [image]);
  useEffect(() => {
    void image.check(kept);
  }, [image, kept]);
  const look = (): void => void image.check(value.trim());
  const { status, busy, error } = image;
  return (
    <>
      <input
        id={id}
        className="jp-OpenHands-input"
        value={value}
        disabled={disabled}
        spellCheck={false}
        autoComplete="off"
        placeholder={value ? undefined : status?.image}
        onChange={event => onChange(event.target.value)}
        onBlur={() => value.trim() !== image.name && look()}
      />
      <div className="jp-OpenHands-image" aria-live="polite" aria-busy={busy}>
        {error !== null ? (
          <Problem error={problemText(trans, error)} />
        ) : busy || !status ? (
          <p className="jp-OpenHands-quiet">{trans.__('Looking…')}</p>
        ) : (
          <Found status={status} />
        )}
      </div>
      {status?.state === 'pulling' && <Progress status={status} />}
      <div className="jp-OpenHands-imageButtons">
        {status?.state === 'pulling' ? (
          <button
            type="button"
            className="jp-OpenHands-button"
            onClick={() => void image.cancel()}
          >
            {trans.__('Cancel')}
          </button>
        ) : (
          <>
            {status?.state === 'missing' && (
              <button
                type="button"
                className="jp-OpenHands-button"
                disabled={busy}
                onClick={() => void image.pull()}
              >
                {trans.__('Pull the image')}
              </button>
            )}
            <button
              type="button"
              className="jp-OpenHands-textButton"
              disabled={busy}
              onClick={look}
            >
              {trans.__('Look again')}
            </button>
          </>
        )}
      </div>
    </>
  );
}

function Found({ status }: { status: IImageStatus }): JSX.Element {
  const { trans } = useServices();
  const words = imageText(trans, status);
  if (status.state === 'ready' || status.state === 'pulling') {
    return <p className="jp-OpenHands-quiet">{words}</p>;
  }
  return <Problem error={{ message: words, hint: status.hint }} />;
}

function Progress({ status }: { status: IImageStatus }): JSX.Element {
  const { trans } = useServices();
  const { done, total } = status;
  return (
    <div className="jp-OpenHands-progress">
      <progress
        aria-label={trans.__('Progress of the pull')}
        max={total || 1}
        // Without a value it says that it works, and not how far it is.
        value={total ? done : undefined}
      />
      {total > 0 && (
        <span className="jp-OpenHands-quiet">
          {trans.__('%1 of %2 MB', megabytes(done), megabytes(total))}
        </span>
      )}
    </div>
  );
}
