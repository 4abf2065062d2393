import { contentsPath } from '../paths';

describe('contentsPath', () => {
  it.each([
    ['/srv/work', '/srv/work', 'a/b.py', 'a/b.py'],
    ['/srv/work', '/srv/work/sub', 'b.py', 'sub/b.py'],
    ['/srv/work', '/srv/work', '/srv/work/./c.py', 'c.py'],
    ['/', '/srv', 'a', 'srv/a'],
    ['~/work', '/home/ada/work', 'a', 'a'],
    ['~', '/root', 'a', 'a']
  ])(
    'finds a file: root %s, workspace %s, path %s',
    (root, workspace, path, found) => {
      expect(contentsPath(root, workspace, path)).toBe(found);
    }
  );

  it.each([
    ['/srv/work', '/srv/work', '../secret'],
    ['/srv/work', '/srv/workshop', 'a'],
    ['/srv/work', '/srv/work', '/etc/passwd'],
    ['~/work', '/home/ada/other', 'a'],
    ['~/work', '/data/ada/work', 'a']
  ])(
    'finds none outside: root %s, workspace %s, path %s',
    (root, workspace, path) => {
      expect(contentsPath(root, workspace, path)).toBeNull();
    }
  );
});
