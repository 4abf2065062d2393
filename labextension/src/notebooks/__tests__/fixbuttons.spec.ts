import type { Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import { FixButtons } from '../fixbuttons';

const trans = nullTranslator.load('');
const frame = (): Promise<number> => new Promise(requestAnimationFrame);

/**
 * What a cell puts out; it counts how often it is looked at.
 */
class Outputs {
  readonly changed = new Signal<this, void>(this);
  looks = 0;

  constructor(private _types: string[]) {}

  get length(): number {
    this.looks++;
    return this._types.length;
  }

  get(index: number): object {
    return { type: this._types[index] };
  }

  put(...types: string[]): void {
    this._types = types;
    this.changed.emit();
  }
}

class FakeCell {
  readonly disposed = new Signal<this, void>(this);
  readonly node = document.createElement('div');
  readonly outputs: Outputs;
  readonly model: object;
  isDisposed = false;

  constructor(type: string, ...types: string[]) {
    this.outputs = new Outputs(types);
    this.model = type === 'code' ? { type, outputs: this.outputs } : { type };
    this.node.tabIndex = -1;
    document.body.append(this.node);
  }

  get button(): HTMLButtonElement | null {
    return this.node.querySelector('button');
  }

  addClass = (name: string): void => this.node.classList.add(name);
  removeClass = (name: string): void => this.node.classList.remove(name);
}

class FakeNotebook {
  readonly disposed = new Signal<this, void>(this);
  readonly modelChanged = new Signal<this, void>(this);
  readonly model = { cells: { changed: new Signal<this, void>(this) } };
  readonly isDisposed = false;
  readonly fixed: unknown[] = [];
  changes = 0;

  constructor(readonly widgets: FakeCell[]) {
    const panel = { content: this } as unknown as NotebookPanel;
    const fix = (cell: Cell): void => void this.fixed.push(cell);
    new FixButtons(trans, panel, fix, () => this.changes++);
  }
}

const label = (cell: FakeCell): string | null | undefined =>
  cell.button?.getAttribute('aria-label');

describe('FixButtons', () => {
  it('stands under cells with errors, named by their places', () => {
    const cells = [
      new FakeCell('markdown'),
      new FakeCell('code', 'stream', 'error', 'display_data'),
      new FakeCell('code', 'stream')
    ];
    const notebook = new FakeNotebook(cells);
    expect(cells.map(label)).toEqual([
      undefined,
      'Fix with OpenHands: cell 2',
      undefined
    ]);
    expect(cells[1].button?.textContent).toBe('Fix with OpenHands');
    cells[1].button?.click();
    expect(notebook.fixed).toEqual([cells[1]]);
  });

  it('comes with an error and goes with it, and the focus stays in the cell', async () => {
    const cell = new FakeCell('code');
    const notebook = new FakeNotebook([cell]);
    cell.outputs.put('stream');
    cell.outputs.put('stream', 'error');
    await frame();
    expect(label(cell)).toBe('Fix with OpenHands: cell 1');
    const { button } = cell;
    button?.focus();
    cell.outputs.put('error');
    await frame();
    expect(cell.button).toBe(button);
    cell.outputs.put();
    await frame();
    expect(cell.button).toBeNull();
    expect(document.activeElement).toBe(cell.node);
    expect(notebook.changes).toBe(2);
  });

  it('takes in cells that come, and tells the new places', async () => {
    const cell = new FakeCell('code', 'error');
    const notebook = new FakeNotebook([cell]);
    const first = new FakeCell('code');
    notebook.widgets.unshift(first);
    notebook.model.cells.changed.emit();
    expect(label(cell)).toBe('Fix with OpenHands: cell 2');
    first.outputs.put('error');
    await frame();
    expect(label(first)).toBe('Fix with OpenHands: cell 1');
  });

  it('looks at nothing but the cell whose outputs changed, once a frame', async () => {
    const cells = Array.from({ length: 2000 }, () => new FakeCell('code'));
    new FakeNotebook(cells);
    cells.forEach(cell => (cell.outputs.looks = 0));
    for (let n = 0; n < 100; n++) {
      cells[5].outputs.put('stream');
    }
    await frame();
    const looked = cells.filter(cell => cell.outputs.looks);
    expect([looked, cells[5].outputs.looks]).toEqual([[cells[5]], 1]);
  });

  it('follows no cell that is gone', async () => {
    const cell = new FakeCell('code');
    const notebook = new FakeNotebook([cell]);
    cell.outputs.put('error');
    cell.isDisposed = true;
    cell.disposed.emit();
    await frame();
    cell.outputs.put('error');
    await frame();
    expect([cell.button, notebook.changes]).toEqual([null, 0]);
  });
});
