import type { IRenderMime, IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { MimeModel } from '@jupyterlab/rendermime';
import type { PartialJSONObject } from '@lumino/coreutils';
import { Widget } from '@lumino/widgets';
import { useEffect, useLayoutEffect, useRef } from 'react';
import { useServices } from './services';

const MARKDOWN = 'text/markdown';

interface IMimeProps {
  mimeType: string;
  data: PartialJSONObject[string];
  metadata?: PartialJSONObject;
}

/**
 * Untrusted content, drawn by JupyterLab's renderers.
 */
export function Mime({ mimeType, data, metadata }: IMimeProps): JSX.Element {
  const { rendermime, trans } = useServices();
  const host = useRef<HTMLDivElement>(null);
  const drawing = useRef<Drawing | null>(null);

  useLayoutEffect(() => {
    if (!host.current?.isConnected) {
      return;
    }
    drawing.current = new Drawing(
      rendermime,
      mimeType,
      host.current,
      trans.__('Image')
    );
    return () => {
      drawing.current?.dispose();
      drawing.current = null;
    };
  }, [rendermime, mimeType, trans]);

  useEffect(() => {
    drawing.current?.draw(data, metadata);
  }, [rendermime, mimeType, data, metadata]);

  return <div ref={host} className="jp-OpenHands-mime" />;
}

/**
 * Rest between two drawings of what grows, as a multiple of what one takes.
 */
const REST = 3;

/**
 * Characters of the bare text that are shown until it is drawn.
 */
const PLACEHOLDER = 2000;

function pause(milliseconds: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, milliseconds));
}

/**
 * One renderer, which draws only the newest of the contents that come while it is busy.
 */
class Drawing {
  constructor(
    rendermime: IRenderMimeRegistry,
    private readonly _mimeType: string,
    host: HTMLElement,
    private readonly _imageName: string
  ) {
    this._renderer = rendermime.createRenderer(_mimeType);
    this._placeholder.className = 'jp-OpenHands-placeholder';
    host.append(this._placeholder);
    // Only an attached widget has its mathematics typeset.
    Widget.attach(this._renderer, host);
  }

  draw(data: PartialJSONObject[string], metadata?: PartialJSONObject): void {
    this._next = new MimeModel({
      data: { [this._mimeType]: data },
      metadata,
      trusted: false
    });
    if (this._mimeType === MARKDOWN && typeof data === 'string') {
      this._placeholder.textContent = data.slice(0, PLACEHOLDER);
    }
    if (!this._busy) {
      void this._work();
    }
  }

  dispose(): void {
    this._next = null;
    this._placeholder.remove();
    this._renderer.dispose();
  }

  private async _work(): Promise<void> {
    this._busy = true;
    try {
      while (this._next && !this._renderer.isDisposed) {
        const model = this._next;
        this._next = null;
        const began = performance.now();
        await this._renderer.renderModel(model);
        this._placeholder.remove();
        for (const image of this._renderer.node.querySelectorAll('img')) {
          image.alt ||= this._imageName;
        }
        // What grows is drawn as often as that leaves the page responsive.
        await pause(REST * (performance.now() - began));
      }
    } finally {
      this._busy = false;
    }
  }

  private _busy = false;
  private _next: MimeModel | null = null;
  /** The bare text until it is drawn, so that its row is about as high as it will be. */
  private readonly _placeholder = document.createElement('div');
  private readonly _renderer: IRenderMime.IRenderer;
}

/**
 * Markdown of a model: untrusted.
 */
export function Markdown({ text }: { text: string }): JSX.Element {
  return <Mime mimeType={MARKDOWN} data={text} />;
}

/**
 * Text of a terminal, with its colours.
 */
export function TerminalText({ text }: { text: string }): JSX.Element {
  return <Mime mimeType="application/vnd.jupyter.stdout" data={text} />;
}
