import { Time } from '@jupyterlab/coreutils';
import type { LabIcon } from '@jupyterlab/ui-components';
import {
  checkIcon,
  codeIcon,
  editIcon,
  fileIcon,
  notebookIcon,
  searchIcon,
  terminalIcon
} from '@jupyterlab/ui-components';
import type { ReactNode } from 'react';
import { memo, useContext } from 'react';
import {
  accessText,
  agentText,
  isolationText,
  modeText,
  outcomeText,
  planText,
  stateText,
  succeeded,
  describeAction
} from '../model/texts';
import type {
  IActionItem,
  IMessageItem,
  ISettingsItem,
  IUserItem,
  RunnableAction,
  TimelineItem
} from '../model/items';
import { loopText, newLimitsText, usedText } from '../model/limits';
import { Code } from './code';
import { Delegate } from './delegate';
import { SentContext } from './context';
import { DryRun } from './dryrun';
import { Fold } from './fold';
import { HookRow } from './hooks';
import { Condensation, Quarantine } from './memory';
import { MessageInput } from './messageinput';
import { Markdown } from './mime';
import { Refused } from './network';
import { Tasks } from './plan';
import { Problem } from './problem';
import { ActionContent } from './result';
import { ItemMenu, Restore, TurnEnd } from './restores';
import { useServices } from './services';
import { FoundSkills, GivenSkill } from './skills';

interface IItemProps {
  session: string;
  workspace: string;
  item: TimelineItem;
  /** Output so far of the action, while it runs. */
  liveOutput: string | null;
  /** Whether the action waits for the person. */
  pending: boolean;
  /** Whether a message would answer it. */
  answerable: boolean;
  /** Whether what belongs below it is folded away. */
  folded: boolean;
  onFold: (item: number) => void;
}

/**
 * One row of the timeline.
 */
export const Item = memo(function Item(props: IItemProps): JSX.Element {
  const { item } = props;
  const { settings, trans } = useServices();
  switch (item.kind) {
    case 'user':
      return <UserMessage session={props.session} item={item} />;
    case 'message':
      return <AgentMessage item={item} answerable={props.answerable} />;
    case 'thought':
      return item.addressed ? (
        <article
          className="jp-OpenHands-message"
          aria-label={trans.__('Agent')}
        >
          <Markdown text={item.text} />
        </article>
      ) : (
        <Thought text={item.text} open={settings.expandThoughts} />
      );
    case 'reasoning':
      return (
        <Fold
          className="jp-OpenHands-thought"
          summary={trans.__('What the model thought before')}
        >
          <Markdown text={item.text} />
        </Fold>
      );
    case 'action':
      return <ActionCard {...props} item={item} />;
    case 'delegate':
      return (
        <Delegate item={item} folded={props.folded} onFold={props.onFold} />
      );
    case 'plan':
      return (
        <Fold summary={planText(trans, item.tasks)} className="jp-mod-note">
          <Tasks tasks={item.tasks} />
        </Fold>
      );
    case 'finish':
      return (
        <article
          className="jp-OpenHands-finish"
          aria-label={trans.__('Result')}
        >
          <h3>
            <checkIcon.react tag="span" className="jp-OpenHands-icon" />
            {trans.__('Done')}
          </h3>
          {item.message && <Markdown text={item.message} />}
        </article>
      );
    case 'error':
      return <Problem error={item} />;
    case 'state':
      return item.change.state === 'error' ? (
        <Problem
          error={{
            message: item.change.reason || stateText(trans, item.change.state),
            hint: item.change.hint,
            code: item.change.code
          }}
        />
      ) : (
        <Note>
          {item.change.reason || stateText(trans, item.change.state)}
          {item.change.hint && ` ${item.change.hint}`}
        </Note>
      );
    case 'released':
      return (
        <Note>
          {item.reason}{' '}
          {trans.__(
            'Its variables and processes are gone; the next action starts another one.'
          )}
        </Note>
      );
    case 'isolation':
      return (
        <Fold
          className={`jp-OpenHands-note jp-mod-${item.isolation.level}`}
          summary={
            <>
              <strong>{isolationText(trans, item.isolation.level)}</strong>{' '}
              {item.isolation.summary}
            </>
          }
        >
          <p>{item.isolation.summary}</p>
          {item.isolation.notice && <p>{item.isolation.notice}</p>}
        </Fold>
      );
    case 'settings':
      return <SettingsChange item={item} />;
    case 'turn':
      return <TurnEnd session={props.session} item={item} />;
    case 'restore':
      return <Restore session={props.session} item={item} />;
    case 'limit':
      return (
        <Note className="jp-mod-amber">
          {trans.__(
            '%1. The agent pauses at the limit.',
            usedText(trans, item.warning)
          )}
        </Note>
      );
    case 'stuck':
      return (
        <Note className="jp-mod-amber">
          {loopText(trans, item.stuck)}{' '}
          {item.stuck.stopped
            ? trans.__('The agent was stopped.')
            : trans.__('The agent was told, and tries another way.')}
        </Note>
      );
    case 'notice':
    case 'no_checkpoint':
      return (
        <Note className="jp-mod-amber">
          {item.message} {item.hint}
        </Note>
      );
    case 'refused':
      return <Refused item={item} />;
    case 'access':
      return <Note>{accessText(trans, item.place, item.access)}</Note>;
    case 'invalid_call':
      return (
        <Fold
          summary={trans.__('The model was asked to mend its reply')}
          className="jp-mod-note"
        >
          <p className="jp-OpenHands-quiet">{item.message}</p>
        </Fold>
      );
    case 'condensation':
      return <Condensation event={item.condensation} />;
    case 'quarantine':
      return <Quarantine event={item.quarantine} />;
    case 'hook':
      return <HookRow event={item.hook} />;
    case 'skill':
      return <GivenSkill event={item.skill} />;
    case 'skills':
      return <FoundSkills event={item.skills} />;
    case 'unknown':
      return (
        <Fold
          summary={trans.__('Event of a newer version: %1', item.event.name)}
          className="jp-mod-note"
        >
          <Code
            text={JSON.stringify(item.event.raw, undefined, 2)}
            language="json"
            label={trans.__('The event')}
          />
        </Fold>
      );
  }
});

function Note(props: { className?: string; children: ReactNode }): JSX.Element {
  return (
    <p className={`jp-OpenHands-note ${props.className ?? ''}`}>
      {props.children}
    </p>
  );
}

function UserMessage(props: { session: string; item: IUserItem }): JSX.Element {
  const { session, item } = props;
  const { trans } = useServices();
  return (
    <article className="jp-OpenHands-user" aria-label={trans.__('You')}>
      <div
        className="jp-OpenHands-userText"
        title={item.time ? Time.format(item.time) : undefined}
      >
        {item.content}
      </div>
      {item.context.length > 0 && <SentContext parts={item.context} />}
      {item.queued ? (
        <span className="jp-OpenHands-badge">
          {trans.__('Queued: the agent reads it after this step')}
        </span>
      ) : (
        <ItemMenu session={session} event={item.id} />
      )}
    </article>
  );
}

function AgentMessage(props: {
  item: IMessageItem;
  answerable: boolean;
}): JSX.Element {
  const { item, answerable } = props;
  const { model, trans } = useServices();
  const input = useContext(MessageInput);
  const { content, notice, options } = item.action;
  const answer = (option: string): void => {
    // Its button is gone as soon as it is sent.
    input?.current?.focus();
    void model.send(option);
  };
  return (
    <article className="jp-OpenHands-message" aria-label={trans.__('Agent')}>
      <Markdown text={content} />
      {notice && <p className="jp-OpenHands-hint">{notice}</p>}
      {answerable && options && options.length > 0 && (
        <div className="jp-OpenHands-options">
          {options.map(option => (
            <button
              key={option}
              type="button"
              className="jp-OpenHands-button"
              onClick={() => answer(option)}
            >
              {option}
            </button>
          ))}
        </div>
      )}
    </article>
  );
}

function Thought(props: { text: string; open: boolean }): JSX.Element {
  const { trans } = useServices();
  if (props.open) {
    return (
      <article
        className="jp-OpenHands-thought"
        aria-label={trans.__('Thought')}
      >
        <Markdown text={props.text} />
      </article>
    );
  }
  return (
    <Fold
      className="jp-OpenHands-thought"
      summary={
        <span className="jp-OpenHands-thoughtLine">
          <span className="jp-OpenHands-visuallyHidden">
            {trans.__('Thought:')}{' '}
          </span>
          {firstLine(props.text)}
        </span>
      }
    >
      <Markdown text={props.text} />
    </Fold>
  );
}

/**
 * The first line of a Markdown text without the marks of emphasis and code.
 */
function firstLine(text: string): string {
  return text.split('\n', 1)[0].replace(/[*`]/g, '');
}

function SettingsChange({ item }: { item: ISettingsItem }): JSX.Element {
  const { trans } = useServices();
  const { agent, mode, model } = item.change;
  return (
    <Note>
      {mode && <span>{trans.__('Mode: %1', modeText(trans, mode))} </span>}
      {model && <span>{trans.__('Model: %1', model)} </span>}
      {agent && <span>{trans.__('Agent: %1', agentText(trans, agent))} </span>}
      <span>{newLimitsText(trans, item.change)}</span>
    </Note>
  );
}

function ActionCard(props: IItemProps & { item: IActionItem }): JSX.Element {
  const { item, session, workspace, liveOutput, pending } = props;
  const { locate, openFile, trans } = useServices();
  const { verb, object } = describeAction(trans, item.action);
  const Icon = iconOf(item.action);
  const file =
    object &&
    'path' in item.action &&
    item.action.path !== undefined &&
    !('pattern' in item.action) &&
    item.result?.type !== 'UserRejectObservation'
      ? locate(workspace, item.action.path)
      : null;
  return (
    <article
      className="jp-OpenHands-action"
      aria-label={object ? `${verb} ${object}` : verb}
    >
      <header title={item.time ? Time.format(item.time) : undefined}>
        <Icon.react tag="span" className="jp-OpenHands-icon" />
        <span className="jp-OpenHands-verb">{verb}</span>
        {file === null ? (
          <span className="jp-OpenHands-path">{object}</span>
        ) : (
          <button
            type="button"
            className="jp-OpenHands-path jp-mod-link"
            title={trans.__('Open %1', object)}
            onClick={() => openFile(file)}
          >
            {object}
          </button>
        )}
        <span className="jp-OpenHands-headEnd">
          <Outcome item={item} pending={pending} />
          {!pending && <ItemMenu session={session} event={item.id} />}
        </span>
      </header>
      {!pending && (
        <ActionContent session={session} item={item} liveOutput={liveOutput} />
      )}
      {!pending && item.dryRun && (
        <Fold summary={trans.__('Show what you tried in the sandbox')}>
          <DryRun session={session} dryRun={item.dryRun} />
        </Fold>
      )}
    </article>
  );
}

function Outcome(props: { item: IActionItem; pending: boolean }): JSX.Element {
  const { item, pending } = props;
  const { trans } = useServices();
  const { decision, result } = item;
  const approved =
    decision?.decision === 'approve' ? trans.__('Approved by you') : null;
  const outcome = pending
    ? trans.__('Waiting for your approval')
    : result
      ? outcomeText(trans, result)
      : decision?.decision === 'reject'
        ? trans.__('Rejected')
        : trans.__('Running…');
  const kind = pending
    ? 'jp-mod-waiting'
    : result && !succeeded(result)
      ? 'jp-mod-failed'
      : '';
  return (
    <span className={`jp-OpenHands-outcome ${kind}`}>
      {approved ? `${approved} · ${outcome}` : outcome}
    </span>
  );
}

function iconOf(action: RunnableAction): LabIcon {
  switch (action.type) {
    case 'CmdRunAction':
      return terminalIcon;
    case 'AwaitRunAction':
    case 'IPythonRunCellAction':
    case 'KernelCodeAction':
    case 'KernelControlAction':
    case 'KernelCopyAction':
    case 'KernelInspectAction':
    case 'KernelLookAction':
    case 'MCPAction':
    case 'NotebookRunAction':
    case 'StopRunAction':
      return codeIcon;
    case 'BrowseInteractiveAction':
    case 'BrowseURLAction':
    case 'FileReadAction':
      return fileIcon;
    case 'FileGlobAction':
    case 'FileGrepAction':
    case 'NotebookSearchAction':
      return searchIcon;
    case 'FileWriteAction':
    case 'FileEditAction':
    case 'PlanHandOverAction':
      return editIcon;
    case 'NotebookCreateAction':
    case 'NotebookEditAction':
    case 'NotebookListAction':
    case 'NotebookOutlineAction':
    case 'NotebookOutputAction':
    case 'NotebookReadAction':
    case 'NotebookSaveAction':
    case 'NotebookUndoAction':
      return notebookIcon;
  }
}
