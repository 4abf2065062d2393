import type { Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { OpenedNotebooks } from '../opened';
import { cellParts, cut, notebookParts } from '../parts';

interface ICell {
  id: string;
  type: string;
  source?: string;
  executionCount?: number | null;
  outputs?: object[];
}

/**
 * A notebook whose person is in its first cell, with `selected` characters of it selected.
 */
function panel(
  cells: ICell[],
  selected = [0, 0],
  rendered?: boolean
): NotebookPanel {
  const models = cells.map(({ outputs = [], ...cell }) => ({
    executionCount: null,
    ...cell,
    sharedModel: { getSource: () => cell.source ?? '' },
    outputs: {
      length: outputs.length,
      get: (index: number) => ({
        type: (outputs[index] as { output_type: string }).output_type,
        toJSON: () => outputs[index]
      })
    }
  }));
  const [start, end] = selected.map(column => ({ line: 0, column }));
  const editor = {
    getSelection: () => ({ start, end }),
    getOffsetAt: ({ column }: { column: number }) => column
  };
  const activeCell = models.length
    ? { model: models[0], editor, ...(rendered !== undefined && { rendered }) }
    : null;
  return {
    content: { activeCell },
    context: { model: { cells: models } }
  } as unknown as NotebookPanel;
}

function error(ename: string, traceback: unknown = ['one', 'two']): object {
  return { output_type: 'error', ename, evalue: 'value', traceback };
}

const STREAM = { output_type: 'stream', name: 'stdout', text: 'x' };

describe('cellParts', () => {
  it('tells the cell that the person is in, and what is selected there', () => {
    const cell = { id: 'c', type: 'code', source: 'x + y' };
    expect(cellParts('a.ipynb', panel([cell], [4, 5]))).toEqual([
      {
        kind: 'cell',
        path: 'a.ipynb',
        cell: 'c',
        cell_type: 'code',
        source: 'x + y'
      },
      {
        kind: 'selection',
        path: 'a.ipynb',
        cell: 'c',
        first_line: 1,
        last_line: 1,
        text: 'y'
      }
    ]);
  });

  it('knows of no selection where there is just the cursor or blanks', () => {
    const cell = { id: 'c', type: 'code', source: 'x + y' };
    expect(cellParts('a', panel([cell], [1, 1]))).toHaveLength(1);
    expect(cellParts('a', panel([cell], [1, 2]))).toHaveLength(1);
  });

  it('knows of no selection in a cell that is shown as text', () => {
    const cell = { id: 'c', type: 'markdown', source: 'text' };
    expect(cellParts('a', panel([cell], [0, 4], true))).toHaveLength(1);
    expect(cellParts('a', panel([cell], [0, 4], false))).toHaveLength(2);
  });

  it('tells the error of the cell that was run last', () => {
    const cells = [
      { id: 'a', type: 'code', executionCount: 7, outputs: [error('New')] },
      { id: 'b', type: 'code', executionCount: 9, outputs: [STREAM] },
      {
        id: 'c',
        type: 'code',
        executionCount: 2,
        outputs: [error('Old'), STREAM]
      },
      { id: 'd', type: 'markdown' }
    ];
    const parts = cellParts('a.ipynb', panel(cells));
    expect(parts.filter(part => part.kind === 'error')).toEqual([
      {
        kind: 'error',
        path: 'a.ipynb',
        cell: 'a',
        ename: 'New',
        evalue: 'value',
        traceback: 'one\ntwo'
      }
    ]);
  });

  it('tells the error of the cell itself before one that came later', () => {
    const cells = [
      { id: 'a', type: 'code', executionCount: 2, outputs: [error('Own')] },
      { id: 'b', type: 'code', executionCount: 9, outputs: [error('Later')] }
    ];
    expect(cellParts('a', panel(cells)).at(-1)).toMatchObject({ cell: 'a' });
    const here = panel(cells);
    const [, other] = here.context.model.cells;
    const about = { model: other } as unknown as Cell;
    expect(cellParts('a', here, about)).toMatchObject([
      { kind: 'cell', cell: 'b' },
      { kind: 'error', cell: 'b', ename: 'Later' }
    ]);
  });

  it('reads an error without colours, whatever it holds', () => {
    const cells = [
      {
        id: 'a',
        type: 'code',
        outputs: [error('E', ['\u001b[31mred\u001b[0m', 3, null])]
      }
    ];
    expect(cellParts('a', panel(cells)).at(-1)).toMatchObject({
      traceback: 'red\n\n'
    });
    const none = [{ id: 'a', type: 'code', outputs: [error('E', 'text')] }];
    expect(cellParts('a', panel(none)).at(-1)).toMatchObject({ traceback: '' });
  });

  it('is empty in an empty notebook', () => {
    expect(cellParts('a', panel([]))).toEqual([]);
  });
});

describe('notebookParts', () => {
  const notebook = {
    path: '',
    dirty: false,
    visible: false,
    kernel: null
  };

  it('tells the one first that the person is in, and leaves out what is false', () => {
    const opened = {
      current: {},
      path: () => 'b',
      describe: () => [
        { ...notebook, path: 'a', visible: true },
        {
          ...notebook,
          path: 'b',
          visible: true,
          dirty: true,
          kernel: { id: 'secret', name: 'python3', state: 'idle' }
        },
        { ...notebook, path: 'c' }
      ]
    } as unknown as OpenedNotebooks;
    expect(notebookParts(opened)).toEqual([
      {
        kind: 'notebook',
        path: 'b',
        visible: true,
        dirty: true,
        kernel: { name: 'python3', state: 'idle' }
      },
      { kind: 'notebook', path: 'a', visible: true },
      { kind: 'notebook', path: 'c' }
    ]);
  });

  it('tells not more of them than the server takes', () => {
    const opened = {
      current: null,
      describe: () => Array<object>(99).fill({ ...notebook, path: 'a' })
    } as unknown as OpenedNotebooks;
    expect(notebookParts(opened)).toHaveLength(30);
  });
});

describe('cut', () => {
  it('leaves a short text as it is', () => {
    expect(cut('abcd', 4)).toBe('abcd');
  });

  it('says how much it left out', () => {
    expect(cut('ab' + 'x'.repeat(1000) + 'yz', 4)).toBe(
      'ab\n[… 1000 characters left out …]\nyz'
    );
  });

  it('leaves no half of a surrogate pair', () => {
    expect(cut('a😀'.repeat(9), 4)).toBe(
      'a\ufffd\n[… 23 characters left out …]\n😀'
    );
    expect(cut('\ud83d', 4)).toBe('\ufffd');
  });
});
