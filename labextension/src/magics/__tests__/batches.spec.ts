import { Batches } from '../batches';

const cell = (
  id: string,
  running = true
): { id: string; isRunning: () => boolean } => ({
  id,
  isRunning: () => running
});

describe('Batches', () => {
  const notebook = {};

  it('knows a cell that ran by itself', () => {
    const batches = new Batches();
    batches.schedule(notebook, cell('before', false));
    batches.schedule(notebook, cell('a'));
    expect(batches.ranAlone('a')).toBe(true);
  });

  it.each(['a', 'b', 'c'])('knows that %s ran with others', name => {
    const batches = new Batches();
    ['a', 'b', 'c'].forEach(id => batches.schedule(notebook, cell(id)));
    expect(batches.ranAlone(name)).toBe(false);
  });

  it('keeps notebooks apart', () => {
    const batches = new Batches();
    batches.schedule({}, cell('a'));
    batches.schedule({}, cell('b'));
    expect(batches.ranAlone('a') && batches.ranAlone('b')).toBe(true);
  });

  it('takes no cell for run that this page did not run', () => {
    expect(new Batches().ranAlone('a')).toBe(false);
  });
});
