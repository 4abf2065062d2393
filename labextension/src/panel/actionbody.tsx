import type { TranslationBundle } from '@jupyterlab/translation';
import { textOf } from './outputs';
import { revealOnOneLine } from '../model/inert';
import type {
  BrowseInteractiveAction,
  CellEdit,
  FileEditAction,
  FileGlobAction,
  FileGrepAction,
  KernelControlAction,
  KernelCopyAction,
  KernelInspectAction,
  KernelVariable,
  MCPAction,
  NotebookCreateAction
} from '../model/events';
import type { RunnableAction } from '../model/items';
import { CellEdits, Why } from './celledits';
import { PlannedCells } from './cellruns';
import { Code } from './code';
import { Diff } from './diff';
import { NotebookRestores } from './notebookrestores';
import { useServices } from './services';
import { StoredNote } from './stored';

/**
 * Exactly what an action would do, as inert text; nothing where its heading says it all.
 */
export function ActionBody(props: {
  action: RunnableAction;
  /** Whether much may be folded away. */
  brief?: boolean;
}): JSX.Element | null {
  const { action, brief = false } = props;
  const { trans } = useServices();
  switch (action.type) {
    case 'CmdRunAction':
      return action.is_input ? (
        <Code text={action.command} label={trans.__('Input')} />
      ) : action.command === '' ? null : (
        <Code
          text={action.command}
          language="shell"
          label={trans.__('Command')}
        />
      );
    case 'IPythonRunCellAction':
      return (
        <Code text={action.code} language="ipython" label={trans.__('Code')} />
      );
    case 'KernelCodeAction':
      return (
        <>
          {action.why && <Why text={action.why} />}
          <Code
            text={action.code}
            language="ipython"
            label={trans.__('Code')}
          />
          <Kept names={action.keep ?? []} />
        </>
      );
    case 'FileWriteAction':
      return (
        <>
          <Code
            text={textOf(action.content)}
            path={action.path}
            label={trans.__('Content of the file')}
          />
          <StoredNote content={action.content} name={action.path} />
        </>
      );
    case 'FileEditAction':
      return <PlannedEdit action={action} />;
    case 'FileGlobAction':
    case 'FileGrepAction':
      return <SearchedPlace action={action} />;
    case 'NotebookEditAction':
      return (
        <>
          {action.why && <Why text={action.why} />}
          {action.cells && (
            <CellEdits path={action.path} cells={action.cells} />
          )}
        </>
      );
    case 'NotebookUndoAction':
      return (
        <>
          {action.why && <Why text={action.why} />}
          <NotebookRestores notebooks={[action]} />
        </>
      );
    case 'NotebookCreateAction':
      return <CellEdits path={null} cells={newCells(action)} />;
    case 'NotebookRunAction':
      return <PlannedCells action={action} brief={brief} />;
    case 'NotebookSearchAction':
      return (
        <p className="jp-OpenHands-quiet">
          {trans.__('In %1', revealOnOneLine(action.path))}
        </p>
      );
    case 'MCPAction':
      return <CalledTool action={action} />;
    case 'PlanHandOverAction':
      return (
        <Code
          text={action.plan ?? ''}
          language="markdown"
          label={trans.__('The plan')}
        />
      );
    case 'KernelControlAction':
      return <Controlled action={action} />;
    case 'KernelCopyAction':
      return <Copied action={action} />;
    case 'KernelInspectAction':
      return <Looked action={action} />;
    case 'BrowseInteractiveAction':
      return <InBrowser action={action} />;
    case 'AwaitRunAction':
    case 'BrowseURLAction':
    case 'FileReadAction':
    case 'KernelLookAction':
    case 'NotebookListAction':
    case 'NotebookOutlineAction':
    case 'NotebookOutputAction':
    case 'NotebookReadAction':
    case 'NotebookSaveAction':
    case 'StopRunAction':
      return null;
  }
}

/**
 * On which page something is done, and what is typed or chosen.
 */
function InBrowser(props: { action: BrowseInteractiveAction }): JSX.Element {
  const { do: what, page, text } = props.action;
  const { trans } = useServices();
  const opens = what === 'open' || what === 'open_tab';
  const says = what === 'type' || what === 'select';
  return (
    <>
      {page && !opens && (
        <p className="jp-OpenHands-quiet">
          {trans.__('On %1', revealOnOneLine(page))}
        </p>
      )}
      {says && text && <Code text={text} label={trans.__('What is entered')} />}
    </>
  );
}

/**
 * An edit before it is made: only the changed part is known.
 */
function PlannedEdit({
  action
}: {
  action: FileEditAction;
}): JSX.Element | null {
  const { trans } = useServices();
  switch (action.command) {
    case 'str_replace':
      return (
        <Diff
          before={action.old_str ?? ''}
          after={action.new_str ?? ''}
          name={action.path}
        />
      );
    case 'insert':
      return (
        <>
          <p className="jp-OpenHands-quiet">
            {trans.__('Inserted after line %1:', action.insert_line ?? 0)}
          </p>
          <Code
            text={action.new_str ?? ''}
            path={action.path}
            label={trans.__('Inserted lines')}
          />
        </>
      );
    case 'undo':
      return null;
  }
}

/**
 * Where a search looks, where that is not the whole workspace.
 */
function SearchedPlace(props: {
  action: FileGlobAction | FileGrepAction;
}): JSX.Element | null {
  const { action } = props;
  const { trans } = useServices();
  const path = action.path ?? '.';
  const include = 'include' in action ? action.include : '';
  if (path === '.' && !include) {
    return null;
  }
  return (
    <p className="jp-OpenHands-quiet">
      {path !== '.' && trans.__('In %1', revealOnOneLine(path))}{' '}
      {include && trans.__('Files: %1', revealOnOneLine(include))}
    </p>
  );
}

/**
 * The names that the person's kernel gets from code.
 */
function Kept({ names }: { names: readonly string[] }): JSX.Element {
  const { trans } = useServices();
  return (
    <p className="jp-OpenHands-quiet">
      {names.length > 0
        ? trans.__(
            'Your kernel gets: %1. All else that it binds is forgotten, but what your own objects hold can be changed.',
            revealOnOneLine(names.join(', '))
          )
        : trans.__(
            'What it binds is forgotten, but what your own objects hold can be changed.'
          )}
    </p>
  );
}

/**
 * Why a kernel is interrupted or restarted, and what is lost with it.
 */
function Controlled({ action }: { action: KernelControlAction }): JSX.Element {
  const { trans } = useServices();
  const { lost, why } = action;
  const isRestart = action.whose === 'user' && action.what === 'restart';
  return (
    <>
      {why && <Why text={why} />}
      {isRestart && (
        <p className="jp-OpenHands-quiet">
          {!lost
            ? trans.__('All its variables are lost.')
            : lost.length > 0
              ? trans.__(
                  'These names are lost: %1',
                  revealOnOneLine(lost.join(', '))
                )
              : trans.__('It has no variables that would be lost.')}
        </p>
      )}
    </>
  );
}

/**
 * What a tool of the person's is called with, and where that runs.
 */
function CalledTool({ action }: { action: MCPAction }): JSX.Element {
  const { trans } = useServices();
  return (
    <>
      <Code
        text={JSON.stringify(action.arguments ?? {}, null, 2)}
        language="json"
        label={trans.__('Arguments')}
      />
      {action.where && (
        <p className="jp-OpenHands-quiet">
          {trans.__('Outside the sandbox: %1', revealOnOneLine(action.where))}
        </p>
      )}
    </>
  );
}

/**
 * What is copied of a variable, and who then reads it.
 */
function Copied({ action }: { action: KernelCopyAction }): JSX.Element {
  const { trans } = useServices();
  const { found, sample, why } = action;
  return (
    <>
      {why && <Why text={why} />}
      {found && (
        <p className="jp-OpenHands-quiet">
          {revealOnOneLine(`${action.variable}: ${kindText(found)}`)}.{' '}
          {copiedRows(trans, found, sample)}
        </p>
      )}
      <p className="jp-OpenHands-quiet">
        {trans.__(
          'The agent and its model then read these data as they are: secrets in them are not masked.'
        )}
      </p>
    </>
  );
}

function kindText({ type, shape = [] }: KernelVariable): string {
  return shape.length > 0 ? `${type}, ${shape.join(' × ')}` : type;
}

/**
 * How many rows are copied, and which ones.
 */
function copiedRows(
  trans: TranslationBundle,
  { shape = [], rows = 1 }: KernelVariable,
  sample: KernelCopyAction['sample']
): string {
  if (rows === (shape[0] ?? 1)) {
    return trans.__('All of it is copied.');
  }
  return sample === 'random'
    ? trans._n(
        '%1 row at random is copied.',
        '%1 rows at random are copied.',
        rows
      )
    : trans._n(
        'The first %1 row is copied.',
        'The first %1 rows are copied.',
        rows
      );
}

/**
 * Which variables are looked at.
 */
function Looked({ action }: { action: KernelInspectAction }): JSX.Element {
  const { trans } = useServices();
  const { names = [], query = '' } = action;
  const text =
    names.length > 0
      ? trans.__('Names: %1', revealOnOneLine(names.join(', ')))
      : query
        ? trans.__('Names with: %1', revealOnOneLine(query))
        : trans.__('All names');
  return <p className="jp-OpenHands-quiet">{text}</p>;
}

/**
 * The cells of a notebook that is to be made, as an edit that inserts them.
 */
function newCells({ cells = [] }: NotebookCreateAction): CellEdit[] {
  return cells.map(({ type, source }, position) => ({
    id: `${position}`,
    what: 'inserted',
    cell_type: type,
    after: source,
    position
  }));
}
