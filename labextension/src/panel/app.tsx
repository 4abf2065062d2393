import { closeIcon } from '@jupyterlab/ui-components';
import type { MouseEvent, RefObject } from 'react';
import { useCallback } from 'react';
import { problemText } from '../model/texts';
import { Announcer } from './announcer';
import { ApprovalCard } from './approval';
import { Composer } from './composer';
import { Empty } from './empty';
import { MessageInput } from './messageinput';
import { PlanStrip } from './plan';
import { Quiet } from './quiet';
import { Problem } from './problem';
import { useObservable, useServices } from './services';
import { Header } from './sessionlist';
import { SettingsView } from './settingsview';
import { StatusStrip } from './statusstrip';
import { StuckCard } from './stuck';
import { TimelineView } from './timelineview';

/**
 * The whole panel.
 */
export function App(props: {
  input: RefObject<HTMLTextAreaElement>;
}): JSX.Element {
  const { model } = useServices();
  useObservable(model);
  const followLink = useLinks();
  return (
    <div className="jp-OpenHands-app" onClick={followLink}>
      <Header />
      <ErrorBanner />
      {model.view === 'settings' ? (
        <SettingsView />
      ) : (
        model.ready && <SessionView input={props.input} />
      )}
      <StatusStrip />
    </div>
  );
}

function SessionView(props: {
  input: RefObject<HTMLTextAreaElement>;
}): JSX.Element {
  const { input } = props;
  const { model, trans } = useServices();
  useObservable(model.current);
  const session = model.current;
  const pending = session?.pending ?? null;
  const showEmpty =
    !session || (session.loaded && !session.timeline.items.length);
  return (
    <>
      {showEmpty ? (
        <Empty />
      ) : session.loaded ? (
        <MessageInput.Provider value={input}>
          <TimelineView key={`log:${session.id}`} session={session} />
        </MessageInput.Provider>
      ) : (
        <p className="jp-OpenHands-quiet jp-OpenHands-grow">
          {trans.__('Loading…')}
        </p>
      )}
      {session && <Quiet key={`quiet:${session.id}`} session={session} />}
      {session && <PlanStrip tasks={session.info.plan} />}
      {pending && (
        <ApprovalCard
          key={`approval:${session!.id}:${pending.id}`}
          item={pending}
          onDecided={() => input.current?.focus()}
        />
      )}
      {session?.info.stuck && (
        <StuckCard
          session={session.id}
          stuck={session.info.stuck}
          input={input}
        />
      )}
      <Composer input={input} />
      {session && <Announcer session={session} />}
    </>
  );
}

function ErrorBanner(): JSX.Element | null {
  const { model, trans } = useServices();
  if (model.error === null) {
    return null;
  }
  return (
    <div className="jp-OpenHands-banner" role="alert">
      <Problem error={problemText(trans, model.error)} />
      {!model.ready && (
        <button
          type="button"
          className="jp-OpenHands-button"
          onClick={() => void model.start()}
        >
          {trans.__('Try again')}
        </button>
      )}
      <button
        type="button"
        className="jp-OpenHands-iconButton"
        title={trans.__('Dismiss')}
        aria-label={trans.__('Dismiss')}
        onClick={() => model.dismissError()}
      >
        <closeIcon.react tag="span" className="jp-OpenHands-icon" />
      </button>
    </div>
  );
}

/**
 * Follow links of untrusted content to files of the workspace; none may replace JupyterLab's page.
 */
function useLinks(): (event: MouseEvent) => void {
  const { locate, model, openFile } = useServices();
  return useCallback(
    event => {
      const link = (event.target as Element).closest?.('a[href]');
      const href = link?.getAttribute('href') ?? '';
      if (!link || /^(?:https?|mailto):/i.test(href)) {
        return;
      }
      event.preventDefault();
      const workspace = model.current?.info.workspace;
      const path = decodePath(href.replace(/[?#].*$/, ''));
      const file = workspace && path ? locate(workspace, path) : null;
      if (file !== null) {
        openFile(file);
      }
    },
    [locate, model, openFile]
  );
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
