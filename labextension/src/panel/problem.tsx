import type { ErrorObservation } from '../model/events';
import { useServices } from './services';

/**
 * What went wrong, and what to do about it.
 */
export function Problem(props: {
  error: Pick<ErrorObservation, 'message' | 'hint'> & { code?: string };
}): JSX.Element {
  const { code, message, hint } = props.error;
  const { model, trans } = useServices();
  return (
    <div className="jp-OpenHands-error">
      <p>{message}</p>
      {hint && <p className="jp-OpenHands-hint">{hint}</p>}
      {leadsToSettings(code) && (
        <button
          type="button"
          className="jp-OpenHands-textButton"
          onClick={() => model.show('settings')}
        >
          {trans.__('Open the settings')}
        </button>
      )}
    </div>
  );
}

function leadsToSettings(code = ''): boolean {
  return code.startsWith('model_') || code === 'sandbox_image_missing';
}
