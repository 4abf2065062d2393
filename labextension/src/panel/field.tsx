import type { ReactNode } from 'react';
import { useEffect, useId } from 'react';
import { originText } from '../model/origins';
import type { IProblem } from '../model/texts';
import { useServices } from './services';

/**
 * What is known of a setting, apart from its value.
 */
export interface IFieldProps {
  label: string;
  /** Where the value comes from; null if there is none. */
  origin: string | null;
  /** The file or the variable. */
  where?: string;
  /** Of the file. */
  line?: number | null;
  locked: boolean;
  changed: boolean;
  /** What is wrong with what was entered; null if nothing is known to be. */
  problem?: IProblem | null;
  /** Whether a reset removes what is kept, and leaves nothing. */
  removes?: boolean;
  onReset: () => void;
}

/**
 * A setting: its name, where its value comes from, what is wrong with it.
 */
export function Field(
  props: IFieldProps & {
    /**
     * @param description - Id of what says what is wrong; undefined if nothing is.
     */
    children: (
      id: string,
      disabled: boolean,
      description: string | undefined
    ) => ReactNode;
  }
): JSX.Element {
  const { label, origin, locked, changed, removes, onReset, children } = props;
  const { where, line } = props;
  const { trans } = useServices();
  const id = useId();
  const problem = props.problem ?? null;
  const description = problem ? `${id}-problem` : undefined;
  useEffect(() => {
    if (problem) {
      document.getElementById(id)?.focus();
    }
  }, [id, problem]);
  return (
    <div className="jp-OpenHands-field">
      <div className="jp-OpenHands-fieldHead">
        <label htmlFor={id}>{label}</label>
        <span className="jp-OpenHands-quiet" title={where || undefined}>
          {changed
            ? trans.__('Not saved yet')
            : locked && origin !== 'environment'
              ? trans.__('Locked by the administrator')
              : origin !== null && originText(trans, { origin, where, line })}
        </span>
        {origin === 'panel' && !changed && !locked && (
          <button
            type="button"
            className="jp-OpenHands-textButton"
            aria-label={
              removes
                ? trans.__('Remove %1', label)
                : trans.__('Reset %1', label)
            }
            onClick={() => {
              onReset();
              // The button is gone then.
              document.getElementById(id)?.focus();
            }}
          >
            {removes ? trans.__('Remove') : trans.__('Reset')}
          </button>
        )}
      </div>
      {children(id, locked, description)}
      {problem && (
        <p id={description} className="jp-OpenHands-error" role="alert">
          {problem.message} {problem.hint}
        </p>
      )}
    </div>
  );
}
