import type { TranslationBundle } from '@jupyterlab/translation';
import type { ReactNode } from 'react';
import { useContext } from 'react';
import type { CellEdit } from '../model/events';
import { revealHidden, revealOnOneLine } from '../model/inert';
import { cellEditText } from '../model/notebooktexts';
import { Code } from './code';
import { Diff } from './diff';
import { Fold } from './fold';
import { GoTo } from './goto';
import { useServices } from './services';

/**
 * Cells of an edit of which more are folded away.
 */
const MOST_CELLS = 3;

interface ICellEditsProps {
  /** The notebook that they can be looked at in; null for none. */
  path: string | null;
  cells: readonly CellEdit[];
  /** Whether the edit was made. */
  done?: boolean;
  /** Says what becomes of a cell. */
  textOf?: (trans: TranslationBundle, cell: CellEdit) => string;
}

/**
 * What an edit makes of the cells of a notebook.
 */
export function CellEdits(props: ICellEditsProps): JSX.Element {
  const { path, cells, done = false, textOf = cellEditText } = props;
  const { trans } = useServices();
  const list = (
    <ul className="jp-OpenHands-cells" aria-label={trans.__('Cells')}>
      {cells.map(cell => (
        <li key={cell.id}>
          <CellHead
            path={path}
            cell={cell}
            done={done}
            title={<span>{textOf(trans, cell)}</span>}
          />
          <CellBody
            cell={cell}
            source={cell.after ?? ''}
            name={textOf(trans, cell)}
          />
        </li>
      ))}
    </ul>
  );
  return cells.length > MOST_CELLS ? (
    <Fold summary={trans.__('Show the %1 cells', cells.length)}>{list}</Fold>
  ) : (
    list
  );
}

/**
 * Why the agent wants an edit, in its words.
 */
export function Why({ text }: { text: string }): JSX.Element {
  return <p className="jp-OpenHands-why">{revealHidden(text)}</p>;
}

/**
 * What becomes of a cell, with what can be done about it.
 */
export function CellHead(props: {
  path: string | null;
  cell: CellEdit;
  /** Whether the edit was made. */
  done?: boolean;
  title: ReactNode;
  children?: ReactNode;
}): JSX.Element {
  const { path, cell, done = false, title, children } = props;
  const exists = cell.what !== (done ? 'deleted' : 'inserted');
  return (
    <header className="jp-OpenHands-cellHead">
      {title}
      {cell.notes?.map(note => (
        <span key={note} className="jp-OpenHands-quiet">
          {revealOnOneLine(note)}
        </span>
      ))}
      <span className="jp-OpenHands-cellButtons">
        {children}
        {typeof cell.from_code === 'number' && (
          <ShowCode event={cell.from_code} />
        )}
        {exists && path !== null && <ShowCell path={path} id={cell.id} />}
      </span>
    </header>
  );
}

/**
 * A button that goes to the code that a cell comes from, where it ran.
 */
function ShowCode({ event }: { event: number }): JSX.Element | null {
  const { trans } = useServices();
  const goTo = useContext(GoTo);
  return (
    goTo && (
      <button
        type="button"
        className="jp-OpenHands-textButton"
        onClick={() => goTo(event)}
      >
        {trans.__('Show where it ran')}
      </button>
    )
  );
}

/**
 * A button that goes to a cell in the notebook.
 */
export function ShowCell(props: {
  path: string;
  id: string;
}): JSX.Element | null {
  const { locate, model, showCell, trans } = useServices();
  const workspace = model.current?.info.workspace;
  const file = workspace === undefined ? null : locate(workspace, props.path);
  return file === null ? null : (
    <button
      type="button"
      className="jp-OpenHands-textButton"
      onClick={() => showCell(file, props.id)}
    >
      {trans.__('Show cell')}
    </button>
  );
}

/**
 * A cell's source as it was and as it will be.
 */
export function CellBody(props: {
  cell: CellEdit;
  source: string;
  /** What becomes of it. */
  name: string;
}): JSX.Element {
  const { cell, source, name } = props;
  const { trans } = useServices();
  const { before, after } = cell;
  const language = languageOf(cell);
  if (typeof before !== 'string' || typeof after !== 'string') {
    return <Code text={before ?? source} language={language} label={name} />;
  }
  if (before === source) {
    return (
      <Fold
        summary={trans.__('The same source')}
        className="jp-OpenHands-cellSame"
      >
        <Code text={source} language={language} label={name} />
      </Fold>
    );
  }
  return (
    <Diff before={before} after={source} name={name} language={language} />
  );
}

/**
 * The language that a cell is most likely to be written in.
 */
export function languageOf(cell: CellEdit): string {
  switch (cell.cell_type) {
    case 'code':
      return 'ipython';
    case 'markdown':
      return 'markdown';
    default:
      return 'text';
  }
}
