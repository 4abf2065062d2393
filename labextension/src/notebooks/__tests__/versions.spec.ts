import { YNotebook } from '@jupyter/ydoc';
import type { YCodeCell } from '@jupyter/ydoc';
import { Versions } from '../versions';

function made(...ids: string[]): YNotebook {
  const cells = ids.map(id => ({
    id,
    cell_type: 'code' as const,
    source: id,
    metadata: {},
    outputs: [],
    execution_count: null
  }));
  return YNotebook.create({
    data: { cells, metadata: {}, nbformat: 4, nbformat_minor: 5 }
  });
}

/**
 * Ids of the cells that are others since a version, and whether there is another order.
 */
function since(
  notebook: YNotebook,
  version: string | null
): [string[], boolean] | null {
  const changes = Versions.of(notebook).since(version);
  const others = notebook.cells.filter(cell => changes?.isOther(cell));
  return changes && [others.map(cell => cell.id), changes.order];
}

const output = { output_type: 'stream', name: 'stdout', text: '1' } as const;

// @jupyter/ydoc itself reads of cells that are in no document yet, of which Yjs complains each time.
beforeAll(() => {
  jest.spyOn(console, 'warn').mockImplementation();
});

describe('Versions', () => {
  it('tell what is another since a state', () => {
    const notebook = made('a', 'b', 'c');
    const [a, b, c] = notebook.cells as YCodeCell[];
    const first = Versions.of(notebook).current;
    expect(since(notebook, first)).toEqual([[], false]);
    a.setSource('other');
    const second = Versions.of(notebook).current;
    b.setMetadata('key', 'value');
    // As JupyterLab has outputs of a kernel: without a signal of the cell.
    c.transact(() => c.setOutputs([output]), false, 'silent-change');
    expect(since(notebook, first)).toEqual([['a', 'b', 'c'], false]);
    expect(since(notebook, second)).toEqual([['b', 'c'], false]);
    expect(since(notebook, Versions.of(notebook).current)).toEqual([[], false]);
  });

  it('tell of other cells, and of cells in another order', () => {
    const notebook = made('a', 'b', 'c');
    const first = Versions.of(notebook).current;
    notebook.deleteCell(1);
    expect(since(notebook, first)).toEqual([[], true]);
    const second = Versions.of(notebook).current;
    notebook.moveCell(0, 1);
    expect(since(notebook, second)).toEqual([['a'], true]);
    const third = Versions.of(notebook).current;
    notebook.addCell({ cell_type: 'raw', source: '', id: 'd' });
    notebook.cells[2].setSource('other');
    expect(since(notebook, third)).toEqual([['d'], true]);
    const fourth = Versions.of(notebook).current;
    notebook.cells[0].ymodel.set('id', 'e');
    expect(since(notebook, fourth)).toEqual([['e'], true]);
  });

  it('are those of one notebook, in which cells can be told from each other', () => {
    const notebook = made('a');
    expect(since(notebook, null)).toBeNull();
    expect(since(notebook, Versions.of(made('a')).current)).toBeNull();
    const first = Versions.of(notebook).current;
    notebook.addCell({ cell_type: 'raw', source: '', id: 'a' });
    expect(Versions.of(notebook).current).toBeNull();
    expect(since(notebook, first)).toBeNull();
  });
});
