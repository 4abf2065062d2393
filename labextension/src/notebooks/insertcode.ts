import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { sharedNotebook } from './opened';

/**
 * Milliseconds for which a hint is shown.
 */
const SHOWN = 5000;

/**
 * Make a cell of code in the notebook that the person is in, or say that there is none.
 */
export function insertCode(
  shell: JupyterFrontEnd.IShell,
  panel: NotebookPanel | null,
  trans: TranslationBundle,
  code: string
): void {
  if (panel === null) {
    Notification.info(
      trans.__(
        'Open a notebook first: the code goes below the cell that is selected there.'
      ),
      { autoClose: SHOWN }
    );
    return;
  }
  shell.activateById(panel.id);
  insertBelow(panel, code);
}

/**
 * Insert a cell below the active one, as one step of the notebook's own undo, and go to it.
 */
export function insertBelow(
  { content, context }: Pick<NotebookPanel, 'content' | 'context'>,
  source: string
): void {
  const index = content.activeCellIndex + 1;
  const notebook = sharedNotebook(context);
  // Otherwise it would be one step with what was typed a moment ago.
  notebook.undoManager.stopCapturing();
  notebook.insertCell(index, { cell_type: 'code', source });
  notebook.undoManager.stopCapturing();
  content.mode = 'command';
  content.deselectAll();
  content.activeCellIndex = index;
  void content.scrollToItem(index, 'smart');
}
