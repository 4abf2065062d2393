import { useServices } from './services';

/**
 * What a person sees before the first message.
 */
export function Empty(): JSX.Element {
  const { model, trans } = useServices();
  const examples = [
    trans.__(
      'Write a Python script that computes Fibonacci numbers and run it'
    ),
    trans.__('Load a CSV file and plot it'),
    trans.__('Tidy this notebook'),
    trans.__('Delete the temporary files here')
  ];
  return (
    <div className="jp-OpenHands-empty">
      <h2>{trans.__('What shall be done?')}</h2>
      <p>
        {trans.__(
          'Type a task: an agent works on it step by step, in a sandbox of its own.'
        )}
      </p>
      <p>
        {trans.__(
          'You see every step here, and it asks before anything risky. To try:'
        )}
      </p>
      <ul>
        {examples.map(example => (
          <li key={example}>
            <button
              type="button"
              className="jp-OpenHands-example"
              onClick={() => void model.send(example)}
            >
              {example}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
