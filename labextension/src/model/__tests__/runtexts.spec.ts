import type { CellResult, NotebookRunObservation, UserKernel } from '../events';
import {
  cellResultText,
  describeRunAction,
  kernelText,
  nameChangesText,
  runStateText,
  touchedFilesText
} from '../runtexts';
import { succeeded } from '../texts';
import { trans } from './translation';

const CELL = { id: 'a', rev: '1', source: 'x', position: 0 };

describe('describeRunAction', () => {
  it('says whose kernel it is', () => {
    const action = { type: 'NotebookRunAction', path: 'a\n' } as const;
    expect(
      describeRunAction(trans, { ...action, planned: [CELL, CELL] })
    ).toEqual({ verb: 'Run 2 cells in your kernel:', object: 'a⟨U+000A⟩' });
    expect(
      describeRunAction(trans, {
        ...action,
        kernel: 'sandbox',
        planned: [CELL]
      }).verb
    ).toBe('Run 1 cell in the sandbox:');
  });
});

describe('kernelText', () => {
  it.each<[UserKernel, string]>([
    [{ id: '', name: 'ir' }, 'The notebook has no kernel yet: ir is started.'],
    [{ id: '1', name: 'ir', state: 'idle' }, 'Kernel ir is idle.'],
    [
      { id: '1', name: 'ir\u202e', state: 'busy' },
      'Kernel ir⟨U+202E⟩ is busy: they wait for what it does.'
    ]
  ])('of %j', (kernel, text) => {
    expect(kernelText(trans, kernel)).toBe(text);
  });
});

describe('runStateText and succeeded', () => {
  it.each<
    [NotebookRunObservation['state'], CellResult['status'], string, boolean]
  >([
    ['done', 'done', 'Done', true],
    ['running', 'running', 'Still running', true],
    ['running', 'waiting', 'Waits for the kernel', true],
    ['awaiting_input', 'running', 'Asks for input', true],
    ['error', 'error', 'Error', false],
    ['kernel_dead', 'unknown', 'The kernel died', false]
  ])('of %s', (state, status, text, fine) => {
    const result: NotebookRunObservation = {
      type: 'NotebookRunObservation',
      path: 'a',
      state,
      cells: [{ id: 'a', rev: '1', position: 0, status }]
    };
    expect(runStateText(trans, result)).toBe(text);
    expect(succeeded(result)).toBe(fine);
  });
});

describe('nameChangesText', () => {
  it('lists what is known, on one line', () => {
    expect(
      nameChangesText(trans, { new: ['a\u202e', 'b'], deleted: ['c'] })
    ).toBe('new: a⟨U+202E⟩, b; deleted: c');
    expect(nameChangesText(trans, { changed: ['a'], left_out: 2 })).toBe(
      'changed: a; and 2 more'
    );
    expect(nameChangesText(trans, {})).toBe('');
    expect(
      touchedFilesText(trans, { created: ['a b\u202e.csv'], left_out: 3 })
    ).toBe('created: a b⟨U+202E⟩.csv; and 3 more');
  });
});

describe('cellResultText', () => {
  it.each<[Partial<CellResult>, string]>([
    [{ status: 'done', execution_count: 3, seconds: 0.5 }, 'done [3] 0.5 s'],
    [{ status: 'not_run' }, 'not run']
  ])('of %j', (cell, text) => {
    expect(
      cellResultText(trans, {
        id: 'a',
        rev: '1',
        position: 0,
        status: 'done',
        ...cell
      })
    ).toBe(text);
  });
});
