import type { YNotebook } from '@jupyter/ydoc';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { INotebookModel, NotebookPanel } from '@jupyterlab/notebook';
import type { Contents } from '@jupyterlab/services';
import { applyChange } from './apply';
import type { IApplied, IChange, IMismatch } from './change';
import type { Request } from './frames';
import { answerFrames, errorFrame, parseRequest, Refusal } from './frames';
import type { OpenedNotebooks } from './opened';
import { lean, leanMetadata } from './lean';
import { describeNotebook, isReadOnly, sharedNotebook } from './opened';
import { outputsRev } from './revisions';
import type { CellRunner } from './running';
import { saveFile, saveShared } from './saving';
import { Versions } from './versions';

type Context = DocumentRegistry.IContext<INotebookModel>;

/**
 * Answers that are kept for requests that come again.
 */
const KEPT = 50;

/**
 * Does what the server asks for.
 */
export class Requests {
  /**
   * @param _provider Tells who provides the contents of notebooks, if it is not their file.
   *
   * @param _runner Runs their cells.
   *
   * @param _openBehind Opens a notebook behind what the person looks at.
   */
  constructor(
    private readonly _opened: OpenedNotebooks,
    private readonly _contents: Contents.IManager,
    private readonly _provider: () => string | undefined,
    private readonly _runner: CellRunner,
    private readonly _openBehind: (path: string) => Promise<void>
  ) {}

  /**
   * The frames that answer a frame of the server. A request that comes again, because the
   * connection broke before its answer arrived, is not done again.
   */
  async answer(frame: unknown): Promise<string[]> {
    const request = parseRequest(frame);
    return request ? this._answer(request) : [];
  }

  private _answer(request: Request): Promise<string[]> {
    const known = this._answers.get(request.id);
    if (known) {
      return known;
    }
    const answer = this._do(request).then(
      result => answerFrames(request.id, result),
      (error: unknown) => [errorFrame(request.id, error)]
    );
    // Reading again does no harm, and what was read may be large.
    if (request.method !== 'read') {
      this._answers.set(request.id, answer);
      if (this._answers.size > KEPT) {
        const [oldest] = this._answers.keys();
        this._answers.delete(oldest);
      }
    }
    return answer;
  }

  private async _do(request: Request): Promise<unknown> {
    if (request.method === 'open') {
      await this._openBehind(request.path);
      return null;
    }
    const panel = this._opened.find(request.path);
    if (!panel) {
      throw new Refusal('not_open', 'This notebook is not open here.');
    }
    switch (request.method) {
      case 'read':
        return this._read(request, panel);
      case 'change':
        return change(panel, request.change);
      case 'save':
        return this._save(panel.context);
      case 'run':
        return this._runner.start(
          panel,
          request.cell,
          request.rev,
          request.source
        );
      case 'landed':
        return this._runner.landed(request.messages);
      case 'unknown':
        throw new Refusal('not_known', `It does not know “${request.name}”.`);
    }
  }

  private _read(
    { path, whole, known }: Request & { method: 'read' },
    panel: NotebookPanel
  ): unknown {
    const notebook = sharedNotebook(panel.context);
    return {
      ...(whole ? readPart(notebook, whole, known) : readAll(notebook)),
      nbformat: notebook.nbformat,
      nbformat_minor: notebook.nbformat_minor,
      state: describeNotebook(path, panel)
    };
  }

  private async _save(context: Context): Promise<null> {
    requireWritable(context);
    if (context.model.collaborative) {
      await saveShared(context, this._contents, this._provider());
    } else {
      await saveFile(context, this._contents);
    }
    return null;
  }

  private readonly _answers = new Map<string, Promise<string[]>>();
}

function readAll(notebook: YNotebook): object {
  return {
    cells: notebook.cells.map(cell => cell.toJSON()),
    metadata: notebook.metadata
  };
}

/**
 * Some cells with all that is in them, and how their outputs are known again; the others lean, and
 * only those that are others than in the version that the server knows.
 */
function readPart(
  notebook: YNotebook,
  whole: string[],
  known: string | null
): object {
  const wanted = new Set(whole);
  const revs: Record<string, string> = {};
  const versions = Versions.of(notebook);
  const since = versions.since(known);
  const told = notebook.cells.filter(
    cell => !since || since.isOther(cell) || wanted.has(cell.id)
  );
  const cells = told.map(cell => {
    const content = cell.toJSON() as unknown as Record<string, unknown>;
    if (!wanted.has(cell.id)) {
      return lean(content);
    }
    revs[cell.id] = outputsRev(content);
    return content;
  });
  return {
    cells,
    metadata: leanMetadata(notebook.metadata),
    outputs_revs: revs,
    version: versions.current,
    ...(since && { since: known }),
    ...(since?.order && { order: versions.ids })
  };
}

function change(
  { context }: NotebookPanel,
  wanted: IChange
): IApplied | IMismatch {
  requireWritable(context);
  return applyChange(sharedNotebook(context), wanted, id => {
    for (const cell of context.model.cells) {
      if (cell.id === id) {
        cell.trusted = false;
      }
    }
  });
}

function requireWritable(context: Context): void {
  if (isReadOnly(context)) {
    throw new Refusal('read_only', 'This notebook is read-only.');
  }
}
