import { chipsOf } from '../model/context';
import type { ContextKind, ContextPart } from '../model/context';
import { Fold } from './fold';
import { useObservable, useServices } from './services';

/**
 * Characters of a text that are shown when the mouse rests on a chip.
 */
const LONGEST_TIP = 1500;

/**
 * What will go with the message; the person switches off what is not to.
 */
export function ContextChips(): JSX.Element | null {
  const { context, model, trans } = useServices();
  useObservable(context);
  useObservable(model);
  if (!context) {
    return null;
  }
  const chips = chipsOf(trans, context.parts);
  const unread =
    context.variables === 'busy'
      ? trans.__('The kernel is busy: without its variables')
      : trans.__(
          'Names, types and shapes of your variables, read when the message is sent'
        );
  if (context.variables === 'busy' || context.variables === 'unread') {
    const label =
      context.variables === 'busy'
        ? trans.__('Variables: kernel busy')
        : trans.__('Variables');
    chips.push({ kind: 'variables', label, whole: unread });
  }
  return chips.length ? (
    <div
      role="group"
      aria-label={trans.__('Goes with the message')}
      className="jp-OpenHands-chips"
    >
      {chips.map(({ kind, label, whole }) => (
        <Chip key={kind} kind={kind} label={label} whole={whole} />
      ))}
    </div>
  ) : null;
}

function Chip(props: {
  kind: ContextKind;
  label: string;
  whole: string;
}): JSX.Element {
  const { kind, label, whole } = props;
  const { model, trans } = useServices();
  const on = !model.contextOff.includes(kind);
  const tip =
    whole.length > LONGEST_TIP ? `${whole.slice(0, LONGEST_TIP)}…` : whole;
  return (
    <button
      type="button"
      className="jp-OpenHands-chip"
      aria-pressed={on}
      title={on ? tip : `${trans.__('Not sent:')}\n${tip}`}
      onClick={() => model.toggleContext(kind)}
    >
      {label}
    </button>
  );
}

/**
 * What went with a message.
 */
export function SentContext(props: { parts: ContextPart[] }): JSX.Element {
  const { trans } = useServices();
  const chips = chipsOf(trans, props.parts);
  return (
    <Fold
      className="jp-OpenHands-sent"
      summary={
        <>
          <span className="jp-OpenHands-visuallyHidden">
            {trans.__('Sent with it:')}{' '}
          </span>
          {chips.map(({ kind, label }) => (
            <span key={kind} className="jp-OpenHands-chip">
              {label}
            </span>
          ))}
        </>
      }
    >
      {chips.map(({ kind, label, whole }) => (
        <pre
          key={kind}
          className="jp-OpenHands-code"
          aria-label={label}
          role="group"
          tabIndex={0}
        >
          {whole}
        </pre>
      ))}
    </Fold>
  );
}
