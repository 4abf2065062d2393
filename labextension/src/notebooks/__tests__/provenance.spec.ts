import { trans } from '../../model/__tests__/translation';
import { markText } from '../marktext';
import { accept, isMarked, isSigned, provenanceOf, strip } from '../provenance';

const OURS = {
  session: 'abc',
  event: 7,
  model: 'a-model',
  approver: 'user',
  time: 'some day'
};

class Cell {
  constructor(readonly metadata: Record<string, unknown>) {}

  getMetadata(key: string): unknown {
    return this.metadata[key];
  }

  setMetadata(key: string, value: unknown): void {
    this.metadata[key] = value;
  }

  deleteMetadata(key: string): void {
    delete this.metadata[key];
  }
}

describe('provenanceOf', () => {
  it.each([
    {},
    { openhands: null },
    { openhands: 'x' },
    { openhands: [] },
    // What `%%openhands` keeps with a cell of the person's.
    { openhands: { task: { answer: 'x' } } }
  ])('finds none in %j', metadata => {
    const cell = new Cell(metadata);
    expect(provenanceOf(cell)).toBeNull();
    expect(isMarked(cell)).toBe(false);
  });
});

describe('isMarked', () => {
  it('takes nothing for accepted but what says so', () => {
    const marked = [{}, { accepted: 1 }, { accepted: true }].map(more =>
      isMarked(new Cell({ openhands: { ...OURS, ...more } }))
    );
    expect(marked).toEqual([true, true, false]);
  });
});

describe('accept and strip', () => {
  it('keep the rest of the metadata', () => {
    const cell = new Cell({ openhands: OURS, tags: ['a'] });
    accept(cell);
    expect(cell.metadata).toEqual({
      openhands: { ...OURS, accepted: true },
      tags: ['a']
    });
    strip(cell);
    expect(cell.metadata).toEqual({ tags: ['a'] });
  });

  it('keep the answer to a task of the cell until all is removed', () => {
    const task = { answer: 'x' };
    const cell = new Cell({ openhands: { ...OURS, task } });
    accept(cell);
    expect(cell.metadata.openhands).toEqual({ ...OURS, task, accepted: true });
    strip(cell);
    expect(cell.metadata).toEqual({});
    expect([cell, new Cell({ openhands: { task } })].map(isSigned)).toEqual([
      false,
      true
    ]);
  });

  it('leave alone what the agent did not change', () => {
    const cell = new Cell({ tags: ['a'] });
    accept(cell);
    strip(cell);
    expect(cell.metadata).toEqual({ tags: ['a'] });
  });
});

describe('markText', () => {
  it('says what is known', () => {
    expect(markText(trans, { ...OURS, session: 3 }).split('\n')).toEqual([
      'This notebook says:',
      'Changed by the OpenHands agent, not accepted yet',
      'Model: a-model',
      'Approved by a person',
      'Time: some day'
    ]);
  });

  it('makes what a notebook claims inert, and short', () => {
    const text = markText(trans, {
      model: '\u202ea\nb',
      session: 'x'.repeat(9999)
    });
    expect(text).toContain('Model: ⟨U+202E⟩a⟨U+000A⟩b\n');
    expect(text.length).toBeLessThan(250);
  });
});
