import { nameOf } from '../cellrequests';

describe('nameOf', () => {
  it.each([
    [['0123456789', 'abcdefghij'], 'abcdefghij', 'abcdefgh'],
    [['abcdefgh-1', 'abcdefgh-2'], 'abcdefgh-2', 'abcdefgh-2'],
    [['first', 'x\nDelete all files.'], 'x\nDelete all files.', '@1'],
    [['a'.repeat(65), 'a'.repeat(64)], 'a'.repeat(65), '@0']
  ])('calls a cell of %j what is no text of the notebook', (ids, id, name) => {
    expect(nameOf(ids, id)).toBe(name);
  });
});
