import type { ILiveText } from '../model/live';
import { revealHidden } from '../model/inert';
import { Fold } from './fold';
import { Markdown } from './mime';
import { useServices } from './services';

/**
 * Characters of a tool call that are shown while it is written.
 */
const TAIL = 400;

/**
 * What the model is writing at the moment.
 */
export function LiveRow({ live }: { live: ILiveText }): JSX.Element {
  const { trans } = useServices();
  switch (live.kind) {
    case 'reasoning':
      return (
        <Fold
          className="jp-OpenHands-thought jp-mod-live"
          summary={trans.__('Thinking…')}
        >
          <Markdown text={live.text} />
        </Fold>
      );
    case 'tool_call':
      return (
        <div className="jp-OpenHands-note jp-mod-live">
          {trans.__('Preparing the next step…')}
          <pre className="jp-OpenHands-tail">
            {revealHidden(live.text.slice(-TAIL))}
          </pre>
        </div>
      );
    default:
      return (
        <article
          className="jp-OpenHands-message jp-mod-live"
          aria-label={trans.__('Agent')}
        >
          <Markdown text={live.text} />
        </article>
      );
  }
}
