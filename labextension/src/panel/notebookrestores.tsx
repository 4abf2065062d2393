import type { LeftCell, NotebookRestored } from '../model/events';
import { revealOnOneLine } from '../model/inert';
import { cellBackText } from '../model/notebooktexts';
import { CellEdits } from './celledits';
import { Code } from './code';
import { Fold } from './fold';
import { useServices } from './services';

interface INotebooksProps {
  notebooks: readonly (Pick<NotebookRestored, 'cells' | 'left' | 'path'> & {
    problem?: string;
  })[];
  /** Whether it was done, so that cells can be looked at. */
  done?: boolean;
}

/**
 * What an undo does, or has done, to the cells of notebooks.
 */
export function NotebookRestores(props: INotebooksProps): JSX.Element {
  const { notebooks, done = false } = props;
  const { trans } = useServices();
  return (
    <>
      {notebooks.map(({ path, cells = [], left = [], problem }) => (
        <section
          key={path}
          className="jp-OpenHands-notebookRestore"
          aria-label={trans.__('Cells of %1', revealOnOneLine(path))}
        >
          <code>{revealOnOneLine(path)}</code>{' '}
          {problem && <span className="jp-OpenHands-quiet">{problem}</span>}
          {cells.length > 0 && (
            <CellEdits
              path={done ? path : null}
              cells={cells}
              done={done}
              textOf={cellBackText}
            />
          )}
          {left.length > 0 && <LeftCells cells={left} />}
        </section>
      ))}
    </>
  );
}

/**
 * The cells that are left as they are, each with the reason and what there is to choose from.
 */
function LeftCells({ cells }: { cells: readonly LeftCell[] }): JSX.Element {
  const { trans } = useServices();
  return (
    <div className="jp-OpenHands-leftCells">
      <span>
        {trans._n(
          '1 cell is left as it is:',
          '%1 cells are left as they are:',
          cells.length
        )}
      </span>
      <ul>
        {cells.map(({ id, why, both }) => (
          <li key={id}>
            <code>{revealOnOneLine(id)}</code>{' '}
            <span>{revealOnOneLine(why)}</span>
            {both && (
              <Fold summary={trans.__('Show both')}>
                <Code
                  text={both}
                  label={trans.__('Both of %1', revealOnOneLine(id))}
                />
              </Fold>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
