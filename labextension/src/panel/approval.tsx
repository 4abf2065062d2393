import { useEffect, useId, useRef, useState } from 'react';
import { describeAction, riskText } from '../model/texts';
import type { IActionItem } from '../model/items';
import { ActionBody } from './actionbody';
import { useServices } from './services';

interface IApprovalCardProps {
  item: IActionItem;
  /** Called when the person has decided, so that the focus goes on. */
  onDecided: () => void;
}

/**
 * The question whether an action may be executed, with exactly what it would do.
 */
export function ApprovalCard(props: IApprovalCardProps): JSX.Element {
  const { item, onDecided } = props;
  const { model, trans } = useServices();
  const [busy, setBusy] = useState(false);
  const [rejecting, setRejecting] = useState(false);
  const [reason, setReason] = useState('');
  const heading = useId();
  const reasonInput = useRef<HTMLInputElement>(null);
  const { verb, object } = describeAction(trans, item.action);
  const risk = item.action.risk;

  useEffect(() => {
    if (rejecting) {
      reasonInput.current?.focus();
    }
  }, [rejecting]);

  const decide = async (decision: 'approve' | 'reject'): Promise<void> => {
    setBusy(true);
    const counted = await model.decide(item.id, decision, reason.trim());
    setBusy(!counted);
    if (counted) {
      onDecided();
    }
  };

  return (
    <section
      className={`jp-OpenHands-approval jp-mod-${risk?.level ?? 'medium'}`}
      aria-labelledby={heading}
      tabIndex={-1}
    >
      <h3 id={heading}>
        <span>{trans.__('Approve this?')}</span>{' '}
        <span className="jp-OpenHands-verb">{verb}</span>{' '}
        <span className="jp-OpenHands-path">{object}</span>
        {risk && (
          <span className={`jp-OpenHands-risk jp-mod-${risk.level}`}>
            {riskText(trans, risk.level)}
          </span>
        )}
      </h3>
      {risk?.reasons && risk.reasons.length > 0 && (
        <ul className="jp-OpenHands-reasons">
          {risk.reasons.map(text => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      <div className="jp-OpenHands-approvalBody">
        <ActionBody action={item.action} />
      </div>
      {rejecting && (
        <input
          ref={reasonInput}
          className="jp-OpenHands-input"
          value={reason}
          disabled={busy}
          aria-label={trans.__('Reason for the agent (optional)')}
          placeholder={trans.__('Reason for the agent (optional)')}
          onChange={event => setReason(event.target.value)}
          onKeyDown={event => {
            if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
              void decide('reject');
            } else if (event.key === 'Escape') {
              setRejecting(false);
            }
          }}
        />
      )}
      <div className="jp-OpenHands-buttons">
        {rejecting ? (
          <>
            <button
              type="button"
              className="jp-OpenHands-button"
              disabled={busy}
              onClick={() => setRejecting(false)}
            >
              {trans.__('Back')}
            </button>
            <button
              type="button"
              className="jp-OpenHands-button jp-mod-warn"
              disabled={busy}
              onClick={() => void decide('reject')}
            >
              {trans.__('Reject')}
            </button>
          </>
        ) : (
          <>
            <button
              type="button"
              className="jp-OpenHands-button"
              disabled={busy}
              onClick={() => setRejecting(true)}
            >
              {trans.__('Reject…')}
            </button>
            <button
              type="button"
              className="jp-OpenHands-button jp-mod-accept"
              disabled={busy}
              onClick={() => void decide('approve')}
            >
              {trans.__('Approve')}
            </button>
          </>
        )}
      </div>
    </section>
  );
}
