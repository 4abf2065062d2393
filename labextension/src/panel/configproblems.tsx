import { useId } from 'react';
import type { ISettings } from '../model/client';
import { configProblemText, someLocked } from '../model/origins';
import { useServices } from './services';

/**
 * What of the configuration does not hold as it was written, and what nobody can change here.
 */
export function ConfigProblems(props: { settings: ISettings }): JSX.Element {
  const { settings } = props;
  const { trans } = useServices();
  const heading = useId();
  return (
    <>
      {settings.problems.length > 0 && (
        <section className="jp-OpenHands-group" aria-labelledby={heading}>
          <h3 id={heading}>{trans.__('Written down, but not in force')}</h3>
          <ul className="jp-OpenHands-problems">
            {settings.problems.map(problem => {
              const text = configProblemText(trans, problem);
              return (
                <li
                  key={text}
                  className={
                    problem.severity === 'error'
                      ? 'jp-OpenHands-error'
                      : 'jp-OpenHands-hint'
                  }
                >
                  {text}
                </li>
              );
            })}
          </ul>
        </section>
      )}
      {someLocked(settings) && (
        <p className="jp-OpenHands-quiet">
          {trans.__(
            'What is locked has the value that the administrator of this server gave it. It can be changed neither here nor in a file.'
          )}
        </p>
      )}
    </>
  );
}
