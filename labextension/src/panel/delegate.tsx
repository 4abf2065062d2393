import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import { revealOnOneLine } from '../model/inert';
import type { IDelegateItem } from '../model/items';
import { agentText, delegateText } from '../model/texts';
import { Fold } from './fold';
import { Markdown } from './mime';
import { Problem } from './problem';
import { useServices } from './services';

/**
 * The head of what another agent does for this one, which can be folded away below it.
 */
export function Delegate(props: {
  item: IDelegateItem;
  folded: boolean;
  onFold: (item: number) => void;
}): JSX.Element {
  const { item, folded, onFold } = props;
  const { trans } = useServices();
  const { action, result } = item;
  const name = revealOnOneLine(agentText(trans, action.agent));
  const Caret = folded ? caretRightIcon : caretDownIcon;
  return (
    <article
      className="jp-OpenHands-delegate"
      aria-label={trans.__('Task of %1', name)}
    >
      <button
        type="button"
        className="jp-OpenHands-delegateHead"
        aria-expanded={!folded}
        onClick={() => onFold(item.id)}
      >
        <Caret.react tag="span" className="jp-OpenHands-icon" />
        <strong>{name}</strong>
        {folded && (
          <span className="jp-OpenHands-delegateTask">
            {revealOnOneLine(action.task)}
          </span>
        )}
        <span className="jp-OpenHands-outcome">
          {delegateText(trans, result)}
        </span>
      </button>
      {!folded && <Markdown text={action.task} />}
      {result?.type === 'AgentDelegateObservation' && (
        <Fold summary={trans.__('What it reported')} className="jp-mod-note">
          <Markdown text={result.content} />
        </Fold>
      )}
      {result?.type === 'ErrorObservation' && <Problem error={result} />}
    </article>
  );
}
