import type { IRenderMime } from '@jupyterlab/rendermime';
import type { Message } from '@lumino/messaging';
import { Panel } from '@lumino/widgets';
import type { Output } from './output';

/**
 * The place of an output of the magics; what it shows is loaded when the first is drawn.
 */
export class Renderer extends Panel implements IRenderMime.IRenderer {
  constructor(private readonly _load: (host: Panel) => Promise<Output>) {
    super();
    this.addClass('jp-OpenHands');
    // Keys that are pressed on its buttons are not the notebook's.
    this.node.dataset.lmSuppressShortcuts = 'true';
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this._loading ??= this._load(this);
    const output = await this._loading;
    if (this.isDisposed) {
      output.dispose();
      return;
    }
    this._output = output;
    output.take(model);
  }

  override dispose(): void {
    this._output?.dispose();
    this._output = null;
    super.dispose();
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this._output?.begin();
  }

  private _loading: Promise<Output> | null = null;
  private _output: Output | null = null;
}
