import type { Task } from '../model/events';
import { planText } from '../model/texts';
import { Fold } from './fold';
import { useServices } from './services';

/**
 * The tasks of a plan as a check list.
 */
export function Tasks({ tasks }: { tasks: Task[] }): JSX.Element {
  const { trans } = useServices();
  const names = {
    todo: trans.__('To do'),
    in_progress: trans.__('In progress'),
    done: trans.__('Done')
  };
  return (
    <ul className="jp-OpenHands-tasks">
      {tasks.map((task, index) => {
        const status = task.status ?? 'todo';
        return (
          <li key={index} className={`jp-mod-${status.replace('_', '-')}`}>
            <span role="img" aria-label={names[status]} title={names[status]}>
              {MARKS[status]}
            </span>
            <span>{task.title}</span>
          </li>
        );
      })}
    </ul>
  );
}

const MARKS = { todo: '○', in_progress: '◐', done: '✓' };

/**
 * The current plan, above the composer.
 */
export function PlanStrip({ tasks }: { tasks: Task[] }): JSX.Element | null {
  const { trans } = useServices();
  const now = tasks.find(task => task.status === 'in_progress');
  if (tasks.length === 0) {
    return null;
  }
  const summary = planText(trans, tasks);
  return (
    <section className="jp-OpenHands-plan" aria-label={trans.__('Plan')}>
      <Fold summary={now ? `${summary} · ${now.title}` : summary}>
        <Tasks tasks={tasks} />
      </Fold>
    </section>
  );
}
