import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { Contents } from '@jupyterlab/services';
import { OpenedNotebooks } from '../opened';

const signal = { connect: jest.fn() };

function panel(path: string): NotebookPanel {
  return {
    isVisible: true,
    isDisposed: false,
    disposed: signal,
    content: { activeCell: null, activeCellChanged: signal },
    context: {
      path,
      ready: Promise.resolve(),
      pathChanged: signal,
      fileChanged: signal,
      model: {
        cells: [],
        dirty: false,
        readOnly: false,
        stateChanged: signal,
        sharedModel: { undoManager: { undoStack: [] } }
      }
    },
    sessionContext: {
      session: null,
      pendingInput: false,
      kernelChanged: signal,
      statusChanged: signal,
      sessionChanged: signal
    }
  } as unknown as NotebookPanel;
}

describe('OpenedNotebooks', () => {
  it('tells the server of its own notebooks only', async () => {
    const panels = ['a.ipynb', 'RTC:b.ipynb', 'Other:c.ipynb'].map(panel);
    const drive = (path: string): string =>
      path.includes(':') ? path.split(':')[0] : '';
    const opened = new OpenedNotebooks(
      {
        currentChanged: signal,
        widgetAdded: signal,
        forEach: (take: (panel: NotebookPanel) => void) => panels.forEach(take)
      } as unknown as INotebookTracker,
      {
        driveName: drive,
        localPath: (path: string) => path.split(':').at(-1)
      } as unknown as Contents.IManager
    );
    await new Promise(resolve => setTimeout(resolve));
    const told = opened.describe().map(({ path }) => path);
    expect(told).toEqual(['a.ipynb', 'b.ipynb']);
  });
});
