import type { ApiClient, IImageStatus } from './client';
import { Polled } from './polled';

/**
 * Milliseconds between two looks at a pull that runs.
 */
export const PULL_INTERVAL = 500;

/**
 * An image of Docker sandboxes: whether it will do, and how far its pull is.
 */
export class DockerImage extends Polled<IImageStatus> {
  constructor(private readonly _client: ApiClient) {
    super(PULL_INTERVAL);
  }

  /**
   * The name that was looked at last; empty for the configured one.
   */
  get name(): string {
    return this._image;
  }

  /**
   * Look into an image.
   *
   * @param image - Its name; empty for the configured one, or the default one.
   */
  async check(image: string): Promise<void> {
    this._image = image;
    await this.ask(() => this.look());
  }

  /**
   * Pull the image that was checked last.
   */
  async pull(): Promise<void> {
    const image = this._image;
    await this.ask(() => this._client.pullImage(image));
  }

  /**
   * Stop the pull.
   */
  async cancel(): Promise<void> {
    const image = this._image;
    await this.ask(async () => {
      await this._client.cancelPull(image);
      return this.look();
    });
  }

  protected look(): Promise<IImageStatus> {
    return this._client.imageStatus(this._image);
  }

  protected goesOn(status: IImageStatus): boolean {
    return status.state === 'pulling';
  }

  private _image = '';
}
