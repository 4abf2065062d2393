import { ellipsesIcon, undoIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { Menu } from '@lumino/widgets';
import { useRef } from 'react';
import type { FilesRestoredObservation } from '../model/events';
import type { IRestoreItem, ITurnItem } from '../model/items';
import { revealOnOneLine } from '../model/inert';
import { Changes } from './changes';
import { Fold } from './fold';
import { NotebookRestores } from './notebookrestores';
import { Problem } from './problem';
import { askToRestore } from './restoredialog';
import { useServices } from './services';

/**
 * What a turn did to files and notebooks: a quiet line, with the changes and their undo on demand.
 */
export function TurnEnd(props: {
  session: string;
  item: ITurnItem;
}): JSX.Element {
  const { session, item } = props;
  const { trans } = useServices();
  const title = turnText(trans, item);
  return (
    <article className="jp-OpenHands-turn" aria-label={title}>
      <div>
        <span>{title}</span>
        {item.undone ? (
          <span className="jp-OpenHands-badge">{trans.__('Undone')}</span>
        ) : (
          <UndoButton
            session={session}
            turn={item.turn}
            text={trans.__('Undo…')}
            name={trans.__('Undo “%1”…', title)}
          />
        )}
      </div>
      {item.changed > 0 && (
        <Fold summary={trans.__('Show changes')}>
          <Changes session={session} from={item.before} to={item.after} />
        </Fold>
      )}
    </article>
  );
}

function turnText(
  trans: TranslationBundle,
  { changed, cells }: ITurnItem
): string {
  const files = trans._n('%1 file changed', '%1 files changed', changed);
  if (cells === 0) {
    return files;
  }
  const edited = trans._n('%1 cell edited', '%1 cells edited', cells);
  return changed > 0 ? trans.__('%1, %2', files, edited) : edited;
}

/**
 * An undo or a rewind, and what came of it.
 */
export function Restore(props: {
  session: string;
  item: IRestoreItem;
}): JSX.Element {
  const { session, item } = props;
  const { trans } = useServices();
  const { action, result } = item;
  const title =
    action.type === 'UndoAction'
      ? trans.__('Undo of changes')
      : trans.__('Rewind to before event %1', action.event);
  return (
    <article className="jp-OpenHands-turn" aria-label={title}>
      <div>
        <undoIcon.react tag="span" className="jp-OpenHands-icon" />
        <strong>{title}</strong>
        {result === null && <span>{trans.__('Restoring…')}</span>}
        {result?.type === 'FilesRestoredObservation' &&
          (item.undone ? (
            <span className="jp-OpenHands-badge">{trans.__('Undone')}</span>
          ) : (
            <UndoButton
              session={session}
              turn={item.id}
              text={trans.__('Take back…')}
              name={trans.__('Take back “%1”…', title)}
            />
          ))}
      </div>
      {result?.type === 'ErrorObservation' && <Problem error={result} />}
      {result?.type === 'FilesRestoredObservation' && (
        <Restored result={result} />
      )}
      <Replay item={item} />
    </article>
  );
}

function Restored(props: { result: FilesRestoredObservation }): JSX.Element {
  const { trans } = useServices();
  const { result } = props;
  const count = (result.restored ?? 0) + (result.removed ?? 0);
  const kept = [...(result.conflicts ?? []), ...(result.failed ?? [])];
  const { notebooks = [] } = result;
  return (
    <>
      {(count > 0 || notebooks.length === 0) && (
        <p>
          {trans._n(
            '%1 file is as it was before.',
            '%1 files are as they were before.',
            count
          )}
        </p>
      )}
      <NotebookRestores notebooks={notebooks} done />
      {kept.length > 0 && (
        <Fold
          summary={trans._n(
            '%1 file was left as it is',
            '%1 files were left as they are',
            kept.length
          )}
          openAtFirst
        >
          <ul className="jp-OpenHands-changes">
            {kept.map(({ path, reason }) => (
              <li key={path}>
                <span className="jp-OpenHands-path">
                  {revealOnOneLine(path)}
                </span>{' '}
                <span className="jp-OpenHands-quiet">{reason}</span>
              </li>
            ))}
          </ul>
        </Fold>
      )}
    </>
  );
}

function Replay({ item }: { item: IRestoreItem }): JSX.Element | null {
  const { trans } = useServices();
  if (item.replay) {
    const { done, cells, reason } = item.replay;
    return (
      <p>
        {trans.__('%1 of %2 cells ran again.', done, cells)} {reason}
      </p>
    );
  }
  return item.replayed > 0 ? (
    <p>{trans.__('Running cell %1 again…', item.replayed)}</p>
  ) : null;
}

function UndoButton(props: {
  session: string;
  turn: number;
  /** What it shows, and its accessible name. */
  text: string;
  name: string;
}): JSX.Element {
  const { session, turn, text, name } = props;
  const services = useServices();
  const { model } = services;
  const undo = async (): Promise<void> => {
    const preview = await model.client.undoPreview(session, turn);
    const choice = await askToRestore(services, preview, false);
    if (choice) {
      await model.client.undo(session, turn, choice.force);
    }
  };
  return (
    <button
      type="button"
      className="jp-OpenHands-textButton"
      aria-label={name}
      onClick={() => void model.attempt(undo)}
    >
      {text}
    </button>
  );
}

/**
 * Ask whether to go back to before an event, and do it.
 */
export function useRewind(session: string, event: number): () => void {
  const services = useServices();
  const { model } = services;
  const rewind = async (): Promise<void> => {
    const preview = await model.client.rewindPreview(session, event);
    const choice = await askToRestore(services, preview, true);
    if (choice) {
      await model.client.rewind(session, event, choice.replay, choice.force);
    }
  };
  return () => void model.attempt(rewind);
}

/**
 * A button with the menu of a row.
 */
export function ItemMenu(props: {
  session: string;
  event: number;
}): JSX.Element {
  const { session, event } = props;
  const { trans } = useServices();
  const button = useRef<HTMLButtonElement>(null);
  const menus = useRef<Menu | null>(null);
  const rewind = useRewind(session, event);
  const open = (): void => {
    const commands = new CommandRegistry();
    commands.addCommand('rewind', {
      label: trans.__('Rewind to here…'),
      execute: rewind
    });
    menus.current?.dispose();
    const menu = (menus.current = new Menu({ commands }));
    menu.addItem({ command: 'rewind' });
    menu.aboutToClose.connect(() => button.current?.focus());
    const { left, bottom } = button.current!.getBoundingClientRect();
    menu.open(left, bottom);
  };
  return (
    <button
      ref={button}
      type="button"
      className="jp-OpenHands-iconButton jp-OpenHands-itemMenu"
      title={trans.__('More')}
      aria-label={trans.__('More for event %1', event)}
      aria-haspopup="menu"
      onClick={open}
    >
      <ellipsesIcon.react tag="span" className="jp-OpenHands-icon" />
    </button>
  );
}
