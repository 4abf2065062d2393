import { useEffect, useId, useRef, useState } from 'react';
import { AS_IT_IS, decisionsOf, wantedCells } from '../model/cellchoice';
import type { ICellChoice } from '../model/cellchoice';
import { canBeTried, isOutdated } from '../model/dryruns';
import type { IActionItem } from '../model/items';
import { approvalText } from '../model/notebooktexts';
import { describeAction, riskText } from '../model/texts';
import { ActionBody } from './actionbody';
import { CellChoices } from './cellchoices';
import { DryRun } from './dryrun';
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
  const edit = item.action.type === 'NotebookEditAction' ? item.action : null;
  const cells = edit?.cells ?? [];
  const [choice, choose] = useCellChoice(item.id);
  const session = model.current;
  const trying = item.dryRun !== null && item.dryRun.result === null;
  const nothing = cells.length > 0 && !wantedCells(cells, choice).length;

  useEffect(() => {
    if (rejecting) {
      reasonInput.current?.focus();
    }
  }, [rejecting]);

  const decide = async (decision: 'approve' | 'reject'): Promise<void> => {
    setBusy(true);
    const counted = await model.decide(
      item.id,
      decision === 'approve'
        ? { decision, cells: decisionsOf(cells, choice) }
        : { decision, reason: reason.trim() || undefined }
    );
    setBusy(!counted);
    if (counted) {
      onDecided();
    }
  };

  const tryOut = async (): Promise<void> => {
    if (session) {
      setBusy(true);
      await model.attempt(() =>
        trying
          ? model.client.stopTrying(session.id, item.id)
          : model.client.tryOut(session.id, item.id, decisionsOf(cells, choice))
      );
      setBusy(false);
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
        <span className="jp-OpenHands-path">{object}</span>{' '}
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
        {edit && cells.length > 0 ? (
          <CellChoices
            edit={edit}
            choice={choice}
            disabled={busy}
            onChoose={choose}
          />
        ) : (
          <ActionBody action={item.action} />
        )}
      </div>
      {session && item.dryRun && (
        <DryRun
          session={session.id}
          dryRun={item.dryRun}
          outdated={isOutdated(item, choice)}
          liveOutput={session.live.output(item.dryRun.id)?.text}
        />
      )}
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
            {session &&
              (trying || canBeTried(item.action, choice, session.info)) && (
                <button
                  type="button"
                  className="jp-OpenHands-button"
                  disabled={busy}
                  onClick={() => void tryOut()}
                >
                  {trying
                    ? trans.__('Stop trying')
                    : trans.__('Try in the sandbox')}
                </button>
              )}
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
              disabled={busy || nothing}
              onClick={() => void decide('approve')}
            >
              {approvalText(trans, cells, choice)}
            </button>
          </>
        )}
      </div>
    </section>
  );
}

/**
 * What the person has chosen of an edit so far; it outlasts that something else is shown meanwhile.
 */
function useCellChoice(
  action: number
): [ICellChoice, (choice: ICellChoice) => void] {
  const { model } = useServices();
  const choices = model.current?.cellChoices;
  const [choice, setChoice] = useState(choices?.get(action) ?? AS_IT_IS);
  return [
    choice,
    chosen => {
      choices?.set(action, chosen);
      setChoice(chosen);
    }
  ];
}
