import { Panel } from '@lumino/widgets';
import type { Message } from '@lumino/messaging';
import type { PanelModel } from './model/panel';
import type { MessageContext } from './notebooks/context';
import type { PanelContent } from './panel/widget';

/**
 * What the sidebar shows, and the model behind it.
 */
export interface ILoaded {
  content: PanelContent;
  /** What goes with messages of the notebooks that are open; null where nothing does. */
  context: MessageContext | null;
  model: PanelModel;
  /** Settles when the server has answered for the first time, or did not. */
  started: Promise<void>;
}

/**
 * The panel's place in the sidebar. What it shows is loaded when it is seen for the first time.
 */
export class Sidebar extends Panel {
  constructor(private readonly _load: () => Promise<ILoaded>) {
    super();
    this.addClass('jp-OpenHands');
    this.node.setAttribute('role', 'region');
  }

  /**
   * What is loaded so far; null before the panel was opened.
   */
  get loaded(): ILoaded | null {
    return this._loaded;
  }

  /**
   * Load what the panel shows, once.
   */
  ensureLoaded(): Promise<ILoaded> {
    this._loading ??= this._load().then(loaded => {
      this._loaded = loaded;
      this.addWidget(loaded.content);
      return loaded;
    });
    return this._loading;
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    if (this.isVisible) {
      void this.ensureLoaded();
    }
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    void this.ensureLoaded();
  }

  private _loaded: ILoaded | null = null;
  private _loading: Promise<ILoaded> | null = null;
}
