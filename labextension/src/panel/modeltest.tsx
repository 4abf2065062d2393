import { useState } from 'react';
import type { IModelReport } from '../model/client';
import { adviceText } from '../model/modelsettings';
import { checkStatusText, problemText, subjectText } from '../model/texts';
import { Problem } from './problem';
import { useServices } from './services';

/**
 * A button that tries out the configured model, and what came of it.
 */
export function ModelTest({ unsaved }: { unsaved: boolean }): JSX.Element {
  const { model, trans } = useServices();
  const [report, setReport] = useState<IModelReport | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const off = busy || unsaved;
  const test = async (): Promise<void> => {
    if (off) {
      return;
    }
    setBusy(true);
    setReport(null);
    setError(null);
    try {
      setReport(await model.client.testModel());
    } catch (reason) {
      setError(reason);
    }
    setBusy(false);
  };
  return (
    <div className="jp-OpenHands-image">
      <button
        type="button"
        className="jp-OpenHands-button"
        // Disabled, it would lose the focus while the model is asked.
        aria-disabled={off}
        title={
          unsaved
            ? trans.__('Save first')
            : trans.__('Makes three short calls, which cost a little')
        }
        onClick={() => void test()}
      >
        {trans.__('Test the model')}
      </button>
      <div aria-live="polite" aria-busy={busy}>
        {busy && (
          <p className="jp-OpenHands-quiet">{trans.__('Asking the model…')}</p>
        )}
        {error !== null && <Problem error={problemText(trans, error)} />}
        {report && (
          <ul
            className="jp-OpenHands-report"
            aria-label={trans.__('Test of %1', report.model)}
          >
            {report.checks.map(check => (
              <li key={check.subject}>
                <strong>
                  {subjectText(trans, check.subject)}:{' '}
                  {checkStatusText(trans, check.status)}
                </strong>{' '}
                {check.message} {adviceText(trans, check.hint)}
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}
