import type { TranslationBundle } from '@jupyterlab/translation';
import { useEffect, useState } from 'react';
import type { IChanges, IFileChange } from '../model/client';
import { revealOnOneLine } from '../model/inert';
import { problemText } from '../model/texts';
import { Diff } from './diff';
import { Fold } from './fold';
import { useServices } from './services';

interface ICheckpointsProps {
  session: string;
  /** The checkpoint before, and the one after. */
  from: string;
  to: string;
}

/**
 * The paths that differ between two checkpoints, each with its difference when it is asked for.
 */
export function Changes(props: ICheckpointsProps): JSX.Element {
  const { session, from, to } = props;
  const { model, trans } = useServices();
  const [changes, problem] = useAnswer(
    () => model.client.diff(session, from, to),
    [model, session, from, to]
  );
  if (problem || !changes) {
    return (
      <p className="jp-OpenHands-quiet">{problem || trans.__('Loading…')}</p>
    );
  }
  const more = changes.total - changes.changes.length;
  return (
    <ul className="jp-OpenHands-changes">
      {changes.changes.map(change => (
        <li key={change.path}>
          {hasText(change) ? (
            <Fold summary={<ChangeLine change={change} />}>
              <FileDiff {...props} path={change.path} />
            </Fold>
          ) : (
            <ChangeLine change={change} />
          )}
        </li>
      ))}
      {more > 0 && <li>{trans.__('and %1 more', more)}</li>}
    </ul>
  );
}

function ChangeLine({ change }: { change: IFileChange }): JSX.Element {
  const { trans } = useServices();
  return (
    <span className="jp-OpenHands-changeLine">
      <span className="jp-OpenHands-path">{pathText(change)}</span>{' '}
      <span className="jp-OpenHands-quiet">
        {kindText(trans, change)} {change.conflict}
      </span>
    </span>
  );
}

function FileDiff(props: ICheckpointsProps & { path: string }): JSX.Element {
  const { session, from, to, path } = props;
  const { model, trans } = useServices();
  const [changes, problem] = useAnswer(
    () => model.client.diff(session, from, to, path),
    [model, session, from, to, path]
  );
  const texts = changes?.texts;
  if (!texts || texts.notice) {
    return (
      <p className="jp-OpenHands-quiet">
        {problem || texts?.notice || trans.__('Loading…')}
      </p>
    );
  }
  return <Diff before={texts.before} after={texts.after} name={path} />;
}

/**
 * What the server answers, and in words why it did not; null and empty while it is asked.
 */
function useAnswer(
  ask: () => Promise<IChanges>,
  dependencies: unknown[]
): [IChanges | null, string] {
  const { trans } = useServices();
  const [answer, setAnswer] = useState<IChanges | null>(null);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    let current = true;
    ask().then(
      found => current && setAnswer(found),
      (error: unknown) => current && setProblem(sentence(trans, error))
    );
    return () => {
      current = false;
    };
    // What is asked is the same as long as these are.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, dependencies);
  return [answer, problem];
}

function sentence(trans: TranslationBundle, error: unknown): string {
  const { message, hint } = problemText(trans, error);
  return hint ? `${message} ${hint}` : message;
}

/**
 * A path as inert text; folders end in a slash.
 */
export function pathText(change: IFileChange): string {
  const isFolder = (change.after ?? change.before)?.kind === 'folder';
  return revealOnOneLine(change.path) + (isFolder ? '/' : '');
}

function hasText({ before, after }: IFileChange): boolean {
  return [before, after].some(
    state => state?.kind === 'file' || state?.kind === 'link'
  );
}

function kindText(trans: TranslationBundle, change: IFileChange): string {
  switch (change.kind) {
    case 'added':
      return trans.__('New');
    case 'deleted':
      return trans.__('Deleted');
    case 'modified':
      return trans.__('Changed');
    case 'mode':
      return trans.__('Other permissions');
    case 'link':
      return trans.__('Leads elsewhere');
    case 'type':
      return trans.__('Replaced');
  }
}
