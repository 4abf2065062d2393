import { nullTranslator } from '@jupyterlab/translation';
import { chipsOf, kindOf } from '../context';
import type { ContextPart } from '../context';

const trans = nullTranslator.load('');
const path = 'folder/a.ipynb';

function labels(...parts: ContextPart[]): [string, string][] {
  return chipsOf(trans, parts).map(({ kind, label }) => [kind, label]);
}

describe('chipsOf', () => {
  it('makes one chip of each kind, always in the same order', () => {
    expect(
      labels(
        {
          kind: 'error',
          path,
          cell: 'c',
          ename: 'E',
          evalue: '',
          traceback: ''
        },
        { kind: 'notebook', path: 'b.ipynb' },
        { kind: 'notebook', path: 'c.ipynb' },
        { kind: 'cell', path, cell: 'c', cell_type: 'code', source: '\n x\ny' },
        {
          kind: 'notebook',
          path,
          visible: true,
          dirty: true,
          kernel: { name: 'python3', state: 'busy' }
        }
      )
    ).toEqual([
      ['notebook', 'a.ipynb · unsaved · python3 busy'],
      ['others', '2 other notebooks'],
      ['cell', 'Cell: x'],
      ['error', 'Error: E']
    ]);
  });

  it('counts what is not listed too', () => {
    const variables = [{ name: 'm', type: 'numpy.ndarray', shape: [2, 3] }];
    const [chip] = chipsOf(trans, [
      { kind: 'variables', path, variables, left_out: 4 }
    ]);
    expect(chip.label).toBe('5 variables');
    expect(chip.whole).toBe('m: numpy.ndarray(2, 3)\n… and 4 more');
  });

  it('shows what would hide itself', () => {
    const source = 'x\u202ey';
    const [chip] = chipsOf(trans, [
      { kind: 'cell', path, cell: 'c', cell_type: 'code', source }
    ]);
    expect(chip.label).toBe('Cell: x⟨U+202E⟩y');
    expect(chip.whole).toBe('x⟨U+202E⟩y');
  });
});

describe('kindOf', () => {
  it('tells notebooks on the screen from those behind other tabs', () => {
    expect(kindOf({ kind: 'notebook', path, visible: true })).toBe('notebook');
    expect(kindOf({ kind: 'notebook', path })).toBe('others');
  });
});
