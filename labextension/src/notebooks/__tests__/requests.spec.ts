import { YNotebook } from '@jupyter/ydoc';
import type { Contents } from '@jupyterlab/services';
import type { OpenedNotebooks } from '../opened';
import { Requests } from '../requests';
import { CellRunner } from '../running';

const PATH = 'n.ipynb';

interface IWorld {
  requests: Requests;
  notebook: YNotebook;
  context: {
    contentsModel: { hash: string; last_modified: string; writable: boolean };
  };
  file: { hash: string; last_modified: string } | null;
  saved: number;
}

function world(): IWorld {
  const cell = { id: 'aaaa', cell_type: 'code', source: 'x', metadata: {} };
  const notebook = YNotebook.create({
    data: { cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 }
  });
  const made: IWorld = {
    notebook,
    file: { hash: 'h', last_modified: 't' },
    saved: 0,
    context: {
      contentsModel: { hash: 'h', last_modified: 't', writable: true }
    }
  } as IWorld;
  const context = Object.assign(made.context, {
    path: PATH,
    model: { cells: [], readOnly: false, sharedModel: notebook },
    save: () => {
      made.saved++;
      return Promise.resolve();
    }
  });
  made.requests = new Requests(
    {
      find: (path: string) => (path === PATH ? { context } : undefined)
    } as unknown as OpenedNotebooks,
    {
      get: () =>
        made.file
          ? Promise.resolve(made.file)
          : Promise.reject(new Error('404'))
    } as unknown as Contents.IManager,
    () => undefined,
    new CellRunner({ runCell: () => Promise.resolve(true) }),
    () => Promise.resolve()
  );
  return made;
}

async function ask(
  { requests }: IWorld,
  method: string,
  params: object = {},
  id = Math.random().toString()
): Promise<Record<string, unknown>> {
  const frame = {
    type: 'request',
    id,
    method,
    params: { path: PATH, ...params }
  };
  const [answer] = await requests.answer(JSON.stringify(frame));
  return JSON.parse(answer) as Record<string, unknown>;
}

function insertion(id: string): object {
  const cell = { id, cell_type: 'markdown', source: 'new', metadata: {} };
  return { change: { steps: [{ type: 'insert', after: null, cell }] } };
}

// @jupyter/ydoc itself reads of cells that are in no document yet, of which Yjs complains each time.
beforeAll(() => {
  jest.spyOn(console, 'warn').mockImplementation();
});

describe('Requests', () => {
  it('does a request that comes again only once, and answers the same', async () => {
    const here = world();
    const first = await ask(here, 'change', insertion('bbbb'), 'one');
    const again = await ask(here, 'change', insertion('bbbb'), 'one');
    expect(first).toMatchObject({ result: { type: 'applied' } });
    expect(again).toEqual(first);
    expect(here.notebook.cells).toHaveLength(2);
    const other = await ask(here, 'change', insertion('bbbb'), 'two');
    expect(other).toMatchObject({ result: { type: 'mismatch' } });
  });

  it('saves a file that is the one that was opened, and no other', async () => {
    const here = world();
    expect(await ask(here, 'save')).toMatchObject({ result: null });
    expect(here.saved).toBe(1);
    here.file = { hash: 'other', last_modified: 't' };
    const changed = { error: { code: 'changed_on_disk' } };
    expect(await ask(here, 'save')).toMatchObject(changed);
    here.file = null;
    expect(await ask(here, 'save')).toMatchObject(changed);
    expect(here.saved).toBe(1);
  });

  it('goes by the time where the server tells no hash', async () => {
    const here = world();
    here.context.contentsModel.hash = '';
    expect(await ask(here, 'save')).toMatchObject({ result: null });
    here.file!.last_modified = 'later';
    expect(await ask(here, 'save')).toMatchObject({
      error: { code: 'changed_on_disk' }
    });
  });

  it('changes and saves nothing that is read-only', async () => {
    const here = world();
    here.context.contentsModel.writable = false;
    const refused = { error: { code: 'read_only' } };
    expect(await ask(here, 'save')).toMatchObject(refused);
    expect(await ask(here, 'change', insertion('bbbb'))).toMatchObject(refused);
    expect(here.notebook.cells).toHaveLength(1);
  });

  it('says what it does not have, and what it does not know', async () => {
    const here = world();
    expect(await ask(here, 'read', { path: 'other' })).toMatchObject({
      error: { code: 'not_open' }
    });
    expect(await ask(here, 'fly')).toMatchObject({
      error: { code: 'not_known' }
    });
    expect(await here.requests.answer('{"type":"hello"}')).toEqual([]);
  });
});
