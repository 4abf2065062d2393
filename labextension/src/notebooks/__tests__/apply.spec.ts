import { readdirSync, readFileSync } from 'fs';
import { join } from 'path';
import { YNotebook } from '@jupyter/ydoc';
import type { INotebookContent } from '@jupyterlab/nbformat';
import { applyChange } from '../apply';
import type { IApplied, IChange, IMismatch } from '../change';
import { cellRev } from '../revisions';

const FOLDER = join(__dirname, '../../../../tests/notebook_changes');

interface IVector {
  before: Array<Record<string, unknown>>;
  change: IChange;
  after?: Array<Record<string, unknown>>;
  applied?: Omit<IApplied, 'type'>;
  mismatch?: Omit<IMismatch, 'type'>;
}

const VECTORS = readdirSync(FOLDER).map(
  file =>
    [
      file.replace('.json', ''),
      JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as IVector
    ] as const
);

function create(cells: unknown[]): YNotebook {
  const data = { cells, metadata: {}, nbformat: 4, nbformat_minor: 5 };
  const notebook = YNotebook.create({
    // As JupyterLab does.
    disableDocumentWideUndoRedo: true,
    data: structuredCopy(data) as INotebookContent
  });
  notebook.undoManager.clear();
  return notebook;
}

function structuredCopy(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function cellsOf(notebook: YNotebook): unknown {
  return structuredCopy(notebook.toJSON().cells);
}

function code(id: string, source: string): Record<string, unknown> {
  return {
    id,
    cell_type: 'code',
    source,
    metadata: {},
    outputs: [],
    execution_count: null
  };
}

// @jupyter/ydoc itself reads of cells that are in no document yet, of which Yjs complains each time.
beforeAll(() => {
  jest.spyOn(console, 'warn').mockImplementation();
});

describe('applyChange', () => {
  it.each(VECTORS)('does what both sides agree on: %s', (_, vector) => {
    const notebook = create(vector.before);
    const result = applyChange(notebook, vector.change);
    if (vector.mismatch) {
      expect(result).toEqual({ type: 'mismatch', ...vector.mismatch });
      expect(cellsOf(notebook)).toEqual(vector.before);
      expect(notebook.undoManager.canUndo()).toBe(false);
    } else {
      expect(result).toEqual({ type: 'applied', ...vector.applied });
      expect(cellsOf(notebook)).toEqual(vector.after);
    }
  });

  it.each(VECTORS)('is one step of the undo history: %s', (_, vector) => {
    const notebook = create(vector.before);
    applyChange(notebook, vector.change);
    expect(notebook.undoManager.undoStack.length).toBeLessThan(2);
    notebook.undo();
    expect(cellsOf(notebook)).toEqual(vector.before);
    notebook.redo();
    expect(cellsOf(notebook)).toEqual(vector.after ?? vector.before);
  });

  it('is no step of it where it is not to be undone', () => {
    const notebook = create([code('aaaa', 'x')]);
    const rev = cellRev({ cell_type: 'code', source: 'x' });
    applyChange(notebook, {
      steps: [{ type: 'set', id: 'aaaa', rev, execution_count: 7 }],
      undoable: false
    });
    expect(notebook.cells[0].toJSON()).toMatchObject({ execution_count: 7 });
    expect(notebook.undoManager.canUndo()).toBe(false);
  });

  it('is undone without what the person typed just before and after', () => {
    const notebook = create([code('aaaa', 'x'), code('bbbb', 'y')]);
    const [first] = notebook.cells;
    notebook.transact(() => first.updateSource(1, 1, '1'));
    applyChange(notebook, {
      steps: [
        {
          type: 'set',
          id: 'aaaa',
          rev: cellRev({ cell_type: 'code', source: 'x1' }),
          source: 'x1 + z'
        }
      ]
    });
    notebook.transact(() => first.updateSource(0, 0, '#'));
    expect(first.source).toBe('#x1 + z');
    notebook.undo();
    expect(first.source).toBe('x1 + z');
    notebook.undo();
    expect(first.source).toBe('x1');
  });

  it('keeps the cell itself, and touches only what differs of its text', () => {
    const notebook = create([code('aaaa', 'one\ntwo\nthree')]);
    const [cell] = notebook.cells;
    const deltas: unknown[] = [];
    cell.changed.connect((_, { sourceChange }) => {
      deltas.push(sourceChange);
    });
    applyChange(notebook, {
      steps: [
        {
          type: 'set',
          id: 'aaaa',
          rev: cellRev({ cell_type: 'code', source: 'one\ntwo\nthree' }),
          source: 'one\n2\nthree\nfour'
        }
      ]
    });
    expect(notebook.cells[0]).toBe(cell);
    expect(deltas).toEqual([
      [
        { retain: 4 },
        { insert: '2' },
        { delete: 3 },
        { retain: 6 },
        { insert: '\nfour' }
      ]
    ]);
  });

  it('says which cells get outputs before they have them', () => {
    const notebook = create([code('aaaa', 'x')]);
    const seen: number[] = [];
    applyChange(
      notebook,
      {
        steps: [
          {
            type: 'set',
            id: 'aaaa',
            rev: cellRev({ cell_type: 'code', source: 'x' }),
            outputs: [
              { output_type: 'stream', name: 'stdout', text: ['1\n', '2\n'] }
            ]
          }
        ]
      },
      () => {
        const [cell] = cellsOf(notebook) as Array<{ outputs: unknown[] }>;
        seen.push(cell.outputs.length);
      }
    );
    expect(seen).toEqual([0]);
    expect(cellsOf(notebook)).toMatchObject([
      { outputs: [{ text: '1\n2\n' }] }
    ]);
  });

  it('replaces a source of a megabyte', () => {
    const before = 'a long line of code\n'.repeat(50_000);
    const after = before.replace(/long/g, 'short').toUpperCase();
    const notebook = create([code('aaaa', before)]);
    const result = applyChange(notebook, {
      steps: [
        {
          type: 'set',
          id: 'aaaa',
          rev: cellRev({ cell_type: 'code', source: before }),
          source: after
        }
      ]
    });
    expect(result.type).toBe('applied');
    expect(notebook.cells[0].source).toBe(after);
  });
});
