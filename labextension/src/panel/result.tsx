import type {
  BrowserOutputObservation,
  CmdOutputObservation,
  FileEditObservation,
  FileGlobObservation,
  FileGrepObservation,
  FileReadObservation,
  FileWriteObservation,
  IPythonOutputObservation,
  KernelCodeObservation,
  KernelCopyObservation,
  NotebookEditObservation,
  Output,
  ShownImage
} from '../model/events';
import { revealOnOneLine } from '../model/inert';
import type { IActionItem, RunnableAction } from '../model/items';
import { ActionBody } from './actionbody';
import { CellEdits, Why } from './celledits';
import { CellResults } from './cellruns';
import { Code } from './code';
import { Diff } from './diff';
import { Effects } from './effects';
import { Fold } from './fold';
import { TerminalText } from './mime';
import { NotebookRestores } from './notebookrestores';
import { Outputs, textOf } from './outputs';
import { Problem } from './problem';
import { useServices } from './services';
import { StoredNote } from './stored';

interface IActionContentProps {
  session: string;
  item: IActionItem;
  /** Output so far of an action that runs. */
  liveOutput: string | null;
}

/**
 * What an action did, and what came of it.
 */
export function ActionContent(props: IActionContentProps): JSX.Element {
  const { session, item, liveOutput } = props;
  const { action, result } = item;
  return (
    <>
      {result?.type === 'FileEditObservation' ? (
        <Edited action={action} result={result} />
      ) : result?.type === 'FileWriteObservation' ? (
        <Written result={result} />
      ) : result?.type === 'NotebookEditObservation' ? (
        <EditedCells action={action} result={result} />
      ) : (
        <ActionBody action={action} brief />
      )}
      {result === null && liveOutput !== null && (
        <div className="jp-OpenHands-terminal">
          <TerminalText text={liveOutput} />
        </div>
      )}
      {result?.type === 'CmdOutputObservation' && (
        <CommandOutput result={result} />
      )}
      {result?.type === 'IPythonOutputObservation' && (
        <>
          <CellOutput session={session} result={result} />
          {action.type === 'IPythonRunCellAction' && (
            <InsertCode code={action.code} />
          )}
        </>
      )}
      {result?.type === 'KernelCodeObservation' && (
        <KernelOutput session={session} result={result} />
      )}
      {result?.type === 'MCPObservation' && (
        <Outputs session={session} outputs={result.outputs ?? []} />
      )}
      {result?.type === 'BrowserOutputObservation' && (
        <Page session={session} result={result} from={placeOf(action)} />
      )}
      {result?.type === 'KernelCopyObservation' && <Copied result={result} />}
      {result?.type === 'FileReadObservation' && <FileText result={result} />}
      {(result?.type === 'FileGlobObservation' ||
        result?.type === 'FileGrepObservation') && <Found result={result} />}
      {(result?.type === 'NotebookObservation' ||
        result?.type === 'KernelObservation') &&
        result.content &&
        (action.type === 'KernelControlAction' ? (
          <p className="jp-OpenHands-quiet">{result.content}</p>
        ) : (
          <NotebookText text={result.content} />
        ))}
      {result?.type === 'NotebookObservation' && result.images && (
        <Outputs session={session} outputs={result.images.map(shownImage)} />
      )}
      {result?.type === 'NotebookRunObservation' && (
        <CellResults session={session} result={result} />
      )}
      {result?.type === 'ErrorObservation' && <Problem error={result} />}
      {result?.type === 'UserRejectObservation' && result.reason && (
        <p className="jp-OpenHands-quiet">{result.reason}</p>
      )}
    </>
  );
}

/**
 * An image that went along with a text, drawn as those that the agent's own code displays.
 */
function shownImage({ blob }: ShownImage): Output {
  return { kind: 'display_data', data: { [blob.media_type]: blob } };
}

function Written({ result }: { result: FileWriteObservation }): JSX.Element {
  const { trans } = useServices();
  const { path, content, old_content } = result;
  if (typeof old_content === 'string' && typeof content !== 'object') {
    return <Diff before={old_content} after={content ?? ''} name={path} />;
  }
  return (
    <>
      <Code
        text={textOf(content)}
        path={path}
        label={trans.__('Content of the file')}
      />
      <StoredNote content={content} name={path} />
    </>
  );
}

/**
 * An edit that was made: the whole file before and after, where neither is too long for that.
 */
function Edited(props: {
  action: RunnableAction;
  result: FileEditObservation;
}): JSX.Element {
  const { action, result } = props;
  const { path, content = '', old_content = '' } = result;
  if (typeof content === 'string' && typeof old_content === 'string') {
    return <Diff before={old_content} after={content} name={path} />;
  }
  return (
    <>
      <ActionBody action={action} />
      <StoredNote content={content} name={path} />
    </>
  );
}

/**
 * The cells that an edit changed, as it changed them.
 */
function EditedCells(props: {
  action: RunnableAction;
  result: NotebookEditObservation;
}): JSX.Element {
  const { action, result } = props;
  if (action.type === 'NotebookUndoAction') {
    return (
      <>
        {action.why && <Why text={action.why} />}
        <NotebookRestores notebooks={[result]} done />
      </>
    );
  }
  return (
    <>
      {action.type === 'NotebookEditAction' && action.why && (
        <Why text={action.why} />
      )}
      <CellEdits path={result.path} cells={result.cells ?? []} done />
    </>
  );
}

function NotebookText({ text }: { text: string }): JSX.Element {
  const { trans } = useServices();
  return (
    <Fold summary={trans.__('Show what was read')}>
      <Code text={text} label={trans.__('What was read')} />
    </Fold>
  );
}

function CommandOutput(props: { result: CmdOutputObservation }): JSX.Element {
  const { result } = props;
  const { trans } = useServices();
  return (
    <>
      {result.content && (
        <div
          className="jp-OpenHands-terminal"
          role="group"
          aria-label={trans.__('Output')}
          tabIndex={0}
        >
          <TerminalText text={result.content} />
        </div>
      )}
      <StoredNote content={result.full_output} name="output.txt" />
      {result.jobs && result.jobs.length > 0 && (
        <ul
          className="jp-OpenHands-quiet"
          aria-label={trans.__('Background jobs')}
        >
          {result.jobs.map(job => (
            <li key={job.id}>
              {revealOnOneLine(
                `[${job.id}] ${job.pid} ${job.status} ${job.command ?? ''}`
              )}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function CellOutput(props: {
  session: string;
  result: IPythonOutputObservation;
}): JSX.Element {
  const { session, result } = props;
  const { trans } = useServices();
  const question = result.input_requested;
  return (
    <>
      <Outputs session={session} outputs={result.outputs ?? []} />
      <Effects names={result.names} files={result.files} />
      {typeof question === 'string' && (
        <p className="jp-OpenHands-quiet">
          {trans.__(
            'The code asked for input, which nobody can give here: “%1”',
            question
          )}
        </p>
      )}
    </>
  );
}

/**
 * A button that makes a cell of code that ran in the sandbox, in the notebook that is open.
 */
function InsertCode({ code }: { code: string }): JSX.Element | null {
  const { insertCode, trans } = useServices();
  return (
    insertCode && (
      <button
        type="button"
        className="jp-OpenHands-textButton"
        onClick={() => insertCode(code)}
      >
        {trans.__('Insert as cell')}
      </button>
    )
  );
}

/**
 * What code printed and showed in the person's kernel, and what became of their names.
 */
function KernelOutput(props: {
  session: string;
  result: KernelCodeObservation;
}): JSX.Element {
  const { session, result } = props;
  const { trans } = useServices();
  const { changed = [], kept = [], notice } = result;
  return (
    <>
      <Outputs session={session} outputs={result.outputs ?? []} />
      {kept.length > 0 && (
        <p className="jp-OpenHands-quiet">
          {trans.__('Your kernel got: %1', revealOnOneLine(kept.join(', ')))}
        </p>
      )}
      {changed.length > 0 && (
        <p className="jp-OpenHands-hint">
          {trans.__(
            'Bound otherwise now in your kernel: %1',
            revealOnOneLine(changed.join(', '))
          )}
        </p>
      )}
      <Effects files={result.files} />
      {notice && <p className="jp-OpenHands-hint">{notice}</p>}
    </>
  );
}

function FileText({ result }: { result: FileReadObservation }): JSX.Element {
  const { trans } = useServices();
  return (
    <Fold summary={trans.__('Show what was read')}>
      <Code
        text={result.content}
        path={result.is_dir ? undefined : result.path}
        label={trans.__('What was read')}
      />
    </Fold>
  );
}

/**
 * The page that an action is said to be about.
 */
function placeOf(action: RunnableAction): string | undefined {
  switch (action.type) {
    case 'BrowseURLAction':
      return action.url;
    case 'BrowseInteractiveAction':
      return action.url || action.page;
    default:
      return undefined;
  }
}

/**
 * What was read of a page of the web; nothing of it is drawn as a page.
 */
function Page(props: {
  session: string;
  result: BrowserOutputObservation;
  /** Where it is already said to be. */
  from?: string;
}): JSX.Element {
  const { from, session, result } = props;
  const { trans } = useServices();
  return (
    <>
      {result.title && (
        <p className="jp-OpenHands-quiet">{revealOnOneLine(result.title)}</p>
      )}
      {result.url && result.url !== from && (
        <p className="jp-OpenHands-quiet">
          {trans.__('Now on %1', revealOnOneLine(result.url))}
        </p>
      )}
      {result.notes?.map((note, index) => (
        <p key={index}>{revealOnOneLine(note)}</p>
      ))}
      {result.content && (
        <Fold summary={trans.__('Show what was read')}>
          <Code
            text={textOf(result.content)}
            label={trans.__('What was read')}
          />
        </Fold>
      )}
      <Outputs session={session} outputs={result.outputs ?? []} />
    </>
  );
}

/**
 * Where a copied variable is now.
 */
function Copied({ result }: { result: KernelCopyObservation }): JSX.Element {
  const { trans } = useServices();
  return (
    <p className="jp-OpenHands-quiet">
      {trans.__(
        'In the sandbox: %1 (%2 bytes)',
        revealOnOneLine(result.file),
        result.size.toLocaleString()
      )}
    </p>
  );
}

/**
 * The files or lines that a search found.
 */
function Found(props: {
  result: FileGlobObservation | FileGrepObservation;
}): JSX.Element | null {
  const { result } = props;
  const { trans } = useServices();
  const lines =
    result.type === 'FileGlobObservation'
      ? (result.files ?? [])
      : (result.matches ?? []).map(
          ({ path, line, text }) => `${path ? `${path}:` : ''}${line}: ${text}`
        );
  return (
    <>
      {lines.length > 0 && (
        <Fold summary={trans.__('Show what was found')}>
          <Code text={lines.join('\n')} label={trans.__('What was found')} />
        </Fold>
      )}
      {result.notice && <p className="jp-OpenHands-quiet">{result.notice}</p>}
    </>
  );
}
