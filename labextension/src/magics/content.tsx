/**
 * Everything that is loaded when the first output of a task is drawn.
 */
import { PageConfig } from '@jupyterlab/coreutils';
import { ReactWidget } from '@jupyterlab/ui-components';
import { PanelModel } from '../model/panel';
import { contentsPath } from '../model/paths';
import { InertSanitizer } from '../panel/sanitizer';
import type { IServices } from '../panel/services';
import { ServicesContext } from '../panel/services';
import { MIME_TYPE } from './mimetype';
import type { TaskModel } from './taskmodel';
import type { IPageServices } from './page';
import { TaskView } from './view';

/**
 * A task as a widget.
 */
export class TaskContent extends ReactWidget {
  constructor(
    private readonly _task: TaskModel,
    private readonly _page: IPageServices
  ) {
    super();
    const { rendermime } = _page;
    this._rendermime = rendermime.clone({
      sanitizer: new InertSanitizer(rendermime.sanitizer)
    });
    this._rendermime.removeMimeType(MIME_TYPE);
    this._none = new PanelModel(_page.client, null, NO_HOOKS);
    this._unsubscribe = _task.subscribe(() => this._takeModel());
    this._takeModel();
  }

  override render(): JSX.Element {
    const { languages, openFile, openConsole, openSession, showCell, trans } =
      this._page;
    const services: IServices = {
      context: null,
      insertCode: null,
      languages,
      model: this._shown ?? this._none,
      openConsole,
      openFile,
      showCell,
      trans,
      rendermime: this._rendermime,
      settings: { sendWithAccel: false, expandThoughts: false },
      locate
    };
    return (
      <ServicesContext.Provider value={services}>
        <TaskView task={this._task} openSession={openSession} />
      </ServicesContext.Provider>
    );
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._unsubscribe();
      this._none.close();
    }
    super.dispose();
  }

  private _takeModel(): void {
    if (this._shown !== this._task.panel) {
      this._shown = this._task.panel;
      this.update();
    }
  }

  private readonly _none: PanelModel;
  private readonly _unsubscribe: () => void;
  private readonly _rendermime: IServices['rendermime'];
  private _shown: PanelModel | null = null;
}

const NO_HOOKS = {
  save: () => undefined,
  filesChanged: () => undefined,
  stateChanged: () => undefined
};

function locate(workspace: string, path: string): string | null {
  return contentsPath(PageConfig.getOption('serverRoot'), workspace, path);
}
