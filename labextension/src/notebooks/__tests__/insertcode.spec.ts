import { YNotebook } from '@jupyter/ydoc';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { insertBelow } from '../insertcode';

// @jupyter/ydoc itself reads of cells that are in no document yet, of which Yjs complains each time.
beforeAll(() => {
  jest.spyOn(console, 'warn').mockImplementation();
});

describe('insertBelow', () => {
  it('makes one step of undo of it, below the cell that is selected', () => {
    const notebook = YNotebook.create();
    notebook.insertCells(0, [
      { cell_type: 'code', source: 'a' },
      { cell_type: 'code', source: 'b' }
    ]);
    const sources = (): string[] => notebook.cells.map(cell => cell.source);
    const content = {
      activeCellIndex: 0,
      deselectAll: jest.fn(),
      scrollToItem: jest.fn()
    };
    const panel = { content, context: { model: { sharedModel: notebook } } };
    notebook.cells[0].setSource('typed');

    insertBelow(panel as unknown as NotebookPanel, 'x = 1');
    expect(sources()).toEqual(['typed', 'x = 1', 'b']);
    expect(content.activeCellIndex).toBe(1);
    notebook.undo();
    expect(sources()).toEqual(['typed', 'b']);
  });
});
