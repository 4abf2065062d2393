import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { PageConfig } from '@jupyterlab/coreutils';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import { createRef } from 'react';
import { MIME_TYPE } from '../magics/mimetype';
import type { PanelModel } from '../model/panel';
import type { MessageContext } from '../notebooks/context';
import { contentsPath } from '../model/paths';
import { App } from './app';
import { InertSanitizer } from './sanitizer';
import type { IPanelSettings } from './services';
import { ServicesContext } from './services';

export interface IPanelOptions {
  context: MessageContext | null;
  insertCode: ((code: string) => void) | null;
  languages: IEditorLanguageRegistry;
  model: PanelModel;
  openConsole: (session: string) => void;
  openFile: (contentsPath: string) => void;
  rendermime: IRenderMimeRegistry;
  showCell: (contentsPath: string, cell: string) => void;
  settings: IPanelSettings;
  trans: TranslationBundle;
}

/**
 * What the panel shows, once it was opened.
 */
export class PanelContent extends ReactWidget {
  constructor(options: IPanelOptions) {
    super();
    this.addClass('jp-OpenHands-content');
    this._settings = options.settings;
    this._options = options;
    this._rendermime = options.rendermime.clone({
      sanitizer: new InertSanitizer(options.rendermime.sanitizer)
    });
    // What the agent's code prints must not look like a task of the person's.
    this._rendermime.removeMimeType(MIME_TYPE);
  }

  /**
   * Take over changed settings.
   */
  setSettings(settings: IPanelSettings): void {
    this._settings = settings;
    this.update();
  }

  /**
   * Put the cursor where the person is needed: in the approval card, else where messages are
   * written. It waits until that is there.
   */
  focusInput(): void {
    const { model } = this._options;
    const card = this.node.querySelector<HTMLElement>('.jp-OpenHands-approval');
    const input = card ?? this._input.current;
    if (input) {
      input.focus();
      return;
    }
    const stop = model.subscribe(() => {
      stop();
      requestAnimationFrame(() => this.focusInput());
    });
    model.show('session');
  }

  override render(): JSX.Element {
    const {
      context,
      insertCode,
      languages,
      model,
      openConsole,
      openFile,
      showCell,
      trans
    } = this._options;
    return (
      <ServicesContext.Provider
        value={{
          context,
          insertCode,
          languages,
          model,
          openConsole,
          openFile,
          showCell,
          trans,
          rendermime: this._rendermime,
          settings: this._settings,
          locate
        }}
      >
        <App input={this._input} />
      </ServicesContext.Provider>
    );
  }

  override dispose(): void {
    this._options.context?.close();
    this._options.model.close();
    super.dispose();
  }

  private readonly _input = createRef<HTMLTextAreaElement>();
  private readonly _options: IPanelOptions;
  private readonly _rendermime: IRenderMimeRegistry;
  private _settings: IPanelSettings;
}

function locate(workspace: string, path: string): string | null {
  return contentsPath(PageConfig.getOption('serverRoot'), workspace, path);
}
