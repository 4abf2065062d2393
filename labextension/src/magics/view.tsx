import { revealHidden, revealOnOneLine } from '../model/inert';
import type { IActionItem, RunnableAction, TimelineItem } from '../model/items';
import type { AgentState } from '../model/frames';
import type { PanelModel } from '../model/panel';
import type { SessionModel } from '../model/session';
import {
  describeAction,
  modeText,
  outcomeText,
  problemText,
  stateText,
  succeeded
} from '../model/texts';
import { Announcer } from '../panel/announcer';
import { ApprovalCard } from '../panel/approval';
import { Boundary } from '../panel/boundary';
import { Fold } from '../panel/fold';
import { Item } from '../panel/items';
import { LiveRow } from '../panel/liverow';
import { Markdown } from '../panel/mime';
import { Problem } from '../panel/problem';
import { ActionContent } from '../panel/result';
import { useObservable, useServices } from '../panel/services';
import { hasEnded } from './payload';
import { stepsOf } from './steps';
import type { TaskModel } from './taskmodel';
import { sandboxedText } from './texts';

/**
 * Steps that are shown; the panel shows them all.
 */
const MOST_STEPS = 50;

/**
 * Characters of a command or a cell that stand for it while it is folded away.
 */
const LONGEST_GIST = 80;

/**
 * A task in the output of its cell.
 */
export function TaskView(props: {
  task: TaskModel;
  openSession: (session: string) => void;
}): JSX.Element {
  const { task, openSession } = props;
  const { trans } = useServices();
  useObservable(task);
  const { panel, payload } = task;
  useObservable(panel);
  const { session } = payload;
  const error = task.error ?? panel?.error ?? null;
  return (
    <section
      className="jp-OpenHands-app jp-OpenHands-task"
      aria-label={trans.__('Task of OpenHands')}
    >
      <header>
        <State state={payload.state} />
        <span className="jp-OpenHands-grow" />
        {session && !hasEnded(payload.state) && (
          <Stop task={task} panel={panel} />
        )}
        {session && (
          <button
            type="button"
            className="jp-OpenHands-button"
            onClick={() => openSession(session)}
          >
            {trans.__('Open in the panel')}
          </button>
        )}
      </header>
      {error !== null && <Problem error={problemText(trans, error)} />}
      {task.refusal && (
        <p className="jp-OpenHands-note">
          {task.refusal === 'sandboxed'
            ? sandboxedText(trans)
            : trans.__(
                'The kernel knows nothing of this task (any more). Run the cell again.'
              )}
        </p>
      )}
      <Question task={task} />
      <Fold summary={trans.__('What is sent')} className="jp-mod-note">
        <pre className="jp-OpenHands-sent">{revealHidden(payload.prompt)}</pre>
      </Fold>
      {panel?.current ? (
        <Steps
          task={task}
          session={panel.current}
          key={`${payload.session}:${payload.message}`}
        />
      ) : (
        session &&
        hasEnded(payload.state) && (
          <button
            type="button"
            className="jp-OpenHands-button"
            onClick={() => void task.watch()}
          >
            {trans.__('Show the steps')}
          </button>
        )
      )}
      {payload.reason && (
        <p className="jp-OpenHands-note">{revealHidden(payload.reason)}</p>
      )}
      {payload.answer && (
        <section
          className="jp-OpenHands-answer"
          aria-label={trans.__('Answer')}
        >
          <Markdown text={payload.answer} />
        </section>
      )}
      {payload.state === 'awaiting_user_input' && (
        <p className="jp-OpenHands-quiet">
          {trans.__('To go on, answer in another cell or in the panel.')}
        </p>
      )}
    </section>
  );
}

function State({ state }: { state: string }): JSX.Element {
  const { trans } = useServices();
  const working = state === 'running' || state === 'loading';
  return (
    <span className={`jp-OpenHands-state jp-mod-${state.replaceAll('_', '-')}`}>
      {working && <span className="jp-OpenHands-spinner" aria-hidden="true" />}
      {state === 'waiting'
        ? trans.__('Not begun')
        : state === 'answered'
          ? trans.__('Answered before')
          : state === 'gone'
            ? trans.__('The session is gone')
            : stateText(trans, state as AgentState)}
    </span>
  );
}

function Stop(props: {
  task: TaskModel;
  panel: PanelModel | null;
}): JSX.Element {
  const { task, panel } = props;
  const { trans } = useServices();
  return (
    <button
      type="button"
      className="jp-OpenHands-button"
      onClick={() => void (panel ? panel.stop() : task.stop())}
    >
      {trans.__('Stop')}
    </button>
  );
}

/**
 * What a person is asked before a task is begun, with the button that begins it.
 */
function Question({ task }: { task: TaskModel }): JSX.Element | null {
  const { trans } = useServices();
  const { question } = task;
  if (question === null) {
    return null;
  }
  const sentence =
    question === 'answered'
      ? trans.__('This cell was answered before; this is that answer.')
      : question === 'auto'
        ? trans.__(
            'In the mode %1 the agent acts without asking. Begin only if you trust what is sent.',
            modeText(trans, 'auto')
          )
        : trans.__(
            'The agent begins only when you say so, because this cell was not run by itself.'
          );
  return (
    <div className="jp-OpenHands-question">
      <p>{sentence}</p>
      <button
        type="button"
        className="jp-OpenHands-button jp-mod-accept"
        onClick={() => void task.run()}
      >
        {question === 'answered' ? trans.__('Ask again') : trans.__('Begin')}
      </button>
    </div>
  );
}

function Steps(props: {
  task: TaskModel;
  session: SessionModel;
}): JSX.Element | null {
  const { task, session } = props;
  const { trans } = useServices();
  useObservable(session);
  const { message, state } = task.payload;
  if (message === null) {
    return null;
  }
  const items = stepsOf(session.timeline.items, message, task.end).filter(
    item => !session.isHidden(item)
  );
  const working = !hasEnded(state);
  const pending = working ? session.pending : null;
  const left = items.length - MOST_STEPS;
  return (
    <>
      <Fold
        summary={trans._n('%1 step', '%1 steps', items.length)}
        className="jp-OpenHands-steps"
        openAtFirst={working}
      >
        {left > 0 && (
          <p className="jp-OpenHands-quiet">
            {trans._n(
              'One earlier step is in the panel.',
              '%1 earlier steps are in the panel.',
              left
            )}
          </p>
        )}
        <div role="log" aria-label={trans.__('Steps')} aria-live="off">
          <ol>
            {items.slice(-MOST_STEPS).map(item => (
              <li key={item.id}>
                <Boundary
                  instead={
                    <p className="jp-OpenHands-quiet">
                      {trans.__('Event %1 cannot be shown.', item.id)}
                    </p>
                  }
                >
                  <Step session={session} item={item} pending={pending} />
                </Boundary>
              </li>
            ))}
            {working &&
              session.live.all
                .filter(live => live.kind !== 'output')
                .map(live => (
                  <li key={`${live.kind}:${live.cause}`}>
                    <LiveRow live={live} />
                  </li>
                ))}
          </ol>
        </div>
      </Fold>
      {pending && (
        <ApprovalCard
          key={pending.id}
          item={pending}
          onDecided={() => undefined}
        />
      )}
      {working && <Announcer session={session} />}
    </>
  );
}

function Step(props: {
  session: SessionModel;
  item: TimelineItem;
  pending: IActionItem | null;
}): JSX.Element {
  const { session, item, pending } = props;
  const { trans } = useServices();
  const liveOutput = session.live.output(item.id)?.text ?? null;
  if (item.kind !== 'action') {
    return (
      <Item
        session={session.id}
        workspace={session.info.workspace}
        item={item}
        liveOutput={liveOutput}
        pending={false}
        answerable={false}
        folded={session.isFolded(item.id)}
        onFold={session.toggleFold}
      />
    );
  }
  const { verb, object } = describeAction(trans, item.action);
  const { result } = item;
  const outcome =
    item.id === pending?.id
      ? trans.__('Waiting for your approval')
      : result
        ? outcomeText(trans, result)
        : trans.__('Running…');
  const failed = result && !succeeded(result) ? 'jp-mod-failed' : '';
  return (
    <Fold
      className="jp-OpenHands-step"
      summary={
        <>
          <span className="jp-OpenHands-verb">{verb}</span>{' '}
          <span className="jp-OpenHands-path">
            {object || gist(item.action)}
          </span>{' '}
          <span className={`jp-OpenHands-outcome ${failed}`}>{outcome}</span>
        </>
      }
    >
      <ActionContent session={session.id} item={item} liveOutput={liveOutput} />
    </Fold>
  );
}

/**
 * The beginning of what is executed.
 */
function gist(action: RunnableAction): string {
  switch (action.type) {
    case 'CmdRunAction':
      return oneLine(action.command);
    case 'IPythonRunCellAction':
    case 'KernelCodeAction':
      return oneLine(action.code);
    default:
      return '';
  }
}

/**
 * Lines of code put behind each other; whoever unfolds the step sees them as they are.
 */
function oneLine(code: string): string {
  return revealOnOneLine(
    code
      .slice(0, LONGEST_GIST)
      .trim()
      .replace(/[ \t]*\n[ \t]*/g, ' ')
  );
}
