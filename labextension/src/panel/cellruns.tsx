import type {
  NotebookRunAction,
  NotebookRunObservation
} from '../model/events';
import { revealOnOneLine } from '../model/inert';
import { cellResultText, kernelText } from '../model/runtexts';
import { ShowCell, Why } from './celledits';
import { Code } from './code';
import { Effects } from './effects';
import { Fold } from './fold';
import { Outputs } from './outputs';
import { useServices } from './services';

/**
 * Cells of a run of which more are folded away once it is approved.
 */
const MOST_CELLS = 3;

/**
 * The cells that are to be run, whole: what is approved is what stands here.
 */
export function PlannedCells(props: {
  action: NotebookRunAction;
  /** Whether many cells may be folded away. */
  brief?: boolean;
}): JSX.Element {
  const { action, brief = false } = props;
  const { trans } = useServices();
  const planned = action.planned ?? [];
  const list = (
    <ul className="jp-OpenHands-cells" aria-label={trans.__('Cells')}>
      {planned.map(cell => {
        const name = trans.__('Code cell @%1', cell.position);
        return (
          <li key={cell.id}>
            <header className="jp-OpenHands-cellHead">
              <span>{name}</span>
              <span className="jp-OpenHands-cellButtons">
                <ShowCell path={action.path} id={cell.id} />
              </span>
            </header>
            <Code text={cell.source} language="ipython" label={name} />
          </li>
        );
      })}
    </ul>
  );
  return (
    <>
      {action.why && <Why text={action.why} />}
      {action.found && !brief && (
        <p className="jp-OpenHands-why jp-OpenHands-quiet">
          {kernelText(trans, action.found)}
        </p>
      )}
      {brief && planned.length > MOST_CELLS ? (
        <Fold summary={trans.__('Show the %1 cells', planned.length)}>
          {list}
        </Fold>
      ) : (
        list
      )}
    </>
  );
}

/**
 * What came of the cells of a run so far.
 */
export function CellResults(props: {
  session: string;
  result: NotebookRunObservation;
  /** Whether it was a trial of cells that the notebook need not have. */
  tried?: boolean;
}): JSX.Element {
  const { session, result, tried = false } = props;
  const { trans } = useServices();
  return (
    <>
      <ul
        className="jp-OpenHands-cells"
        aria-label={trans.__('What came of the cells')}
      >
        {result.cells?.map(cell => (
          <li key={cell.id}>
            <header className="jp-OpenHands-cellHead">
              <span>
                @{cell.position} {cellResultText(trans, cell)}
              </span>
              {!tried && (
                <span className="jp-OpenHands-cellButtons">
                  <ShowCell path={result.path} id={cell.id} />
                </span>
              )}
            </header>
            {cell.outputs && cell.outputs.length > 0 && (
              <Outputs session={session} outputs={cell.outputs} />
            )}
          </li>
        ))}
      </ul>
      <Effects names={result.names} files={result.files} />
      {result.problem && (
        <p className="jp-OpenHands-error">{revealOnOneLine(result.problem)}</p>
      )}
      {result.content && (
        <Fold summary={trans.__('Show what the agent sees')}>
          <Code text={result.content} label={trans.__('What the agent sees')} />
        </Fold>
      )}
    </>
  );
}
