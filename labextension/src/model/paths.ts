/**
 * Where a file of a session stands below the root of JupyterLab's file browser.
 *
 * @param serverRoot - Jupyter's root folder as the page configuration gives it: absolute, or with
 *   `~` for the home folder.
 *
 * @param workspace - Absolute path of the session's workspace.
 *
 * @param path - Relative to the workspace, or absolute.
 *
 * @returns The path for the contents API, or null if the file is not below the root.
 */
export function contentsPath(
  serverRoot: string,
  workspace: string,
  path: string
): string | null {
  const file = normalise(path.startsWith('/') ? path : `${workspace}/${path}`);
  const root = normalise(expandHome(serverRoot, workspace));
  if (root === '/') {
    return file.slice(1);
  }
  return file.startsWith(`${root}/`) ? file.slice(root.length + 1) : null;
}

/**
 * Jupyter writes the home folder as `~`; the workspace tells which folder that is.
 */
function expandHome(root: string, workspace: string): string {
  if (root !== '~' && !root.startsWith('~/')) {
    return root;
  }
  const home = /^(\/root|\/(?:home|Users)\/[^/]+)(?=\/|$)/.exec(workspace);
  return home ? home[1] + root.slice(1) : root;
}

function normalise(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') {
      parts.pop();
    } else if (part !== '' && part !== '.') {
      parts.push(part);
    }
  }
  return `/${parts.join('/')}`;
}
