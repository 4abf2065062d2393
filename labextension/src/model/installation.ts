import type { ApiClient, IInstallStatus } from './client';
import { Polled } from './polled';

/**
 * Milliseconds between two looks at an installation that runs.
 */
export const INSTALL_INTERVAL = 1000;

/**
 * What the requirements file lists: whether it is installed, and how far that is.
 */
export class Installation extends Polled<IInstallStatus> {
  constructor(private readonly _client: ApiClient) {
    super(INSTALL_INTERVAL);
  }

  async check(): Promise<void> {
    await this.ask(() => this.look());
  }

  async start(): Promise<void> {
    await this.ask(() => this._client.install());
  }

  /**
   * Stop the installation.
   */
  async cancel(): Promise<void> {
    await this.ask(async () => {
      await this._client.cancelInstall();
      return this.look();
    });
  }

  protected look(): Promise<IInstallStatus> {
    return this._client.installStatus();
  }

  protected goesOn(status: IInstallStatus): boolean {
    return status.state === 'installing';
  }
}
