import { ApiError } from './client';
import type {
  ApiClient,
  IAgent,
  IDecision,
  IModel,
  ISessionChange,
  ISettings,
  SettingsChange
} from './client';
import type { ContextKind, ContextPart } from './context';
import { Drafts } from './drafts';
import { DEFAULT_AGENT } from './frames';
import type { AgentState, ISessionInfo, Mode } from './frames';
import type { Access, IPlace } from './network';
import { extensionOf } from './limits';
import { Observable } from './observable';
import { NO_SECRETS, saveSecrets } from './secrets';
import type { ISecretsDraft } from './secrets';
import { SessionModel } from './session';

/**
 * What the panel keeps over a reload.
 */
export interface ISavedState {
  session: string | null;
  /** What was typed but not sent, by session. */
  drafts: Readonly<Record<string, string>>;
  /** What the person does not send of their notebooks. */
  contextOff?: readonly ContextKind[];
}

/**
 * What the panel tells to what it is embedded in.
 */
export interface IPanelHooks {
  save(state: ISavedState): void;
  /** Files of the workspace may have changed. */
  filesChanged(): void;
  /** The open session went from a state to another. */
  stateChanged(session: SessionModel, from: AgentState): void;
}

export type View = 'session' | 'settings';

/**
 * What the panel shows: the sessions, the current one, the settings, and what went wrong.
 */
export class PanelModel extends Observable {
  constructor(
    readonly client: ApiClient,
    saved: ISavedState | null,
    private readonly _hooks: IPanelHooks
  ) {
    super();
    this._wanted = saved?.session ?? null;
    this._drafts = new Drafts(saved?.drafts ?? {});
    this._contextOff = saved?.contextOff ?? [];
  }

  /** Newest first. */
  get sessions(): readonly ISessionInfo[] {
    return this._sessions;
  }

  get current(): SessionModel | null {
    return this._current;
  }

  get settings(): ISettings | null {
    return this._settings;
  }

  get models(): readonly IModel[] {
    return this._models;
  }

  get view(): View {
    return this._view;
  }

  /**
   * What went wrong last, to be shown until it is dismissed; null if nothing did.
   */
  get error(): unknown {
    return this._error;
  }

  /**
   * Whether the first answer of the server came.
   */
  get ready(): boolean {
    return this._ready;
  }

  /**
   * Read what there is from the server and open the session that was open last.
   */
  async start(): Promise<void> {
    await this.attempt(async () => {
      this._error = null;
      const [sessions, settings] = await Promise.all([
        this.client.sessions(),
        this.client.settings()
      ]);
      this._sessions = sessions;
      this._settings = settings;
      this._ready = true;
      const wanted = sessions.find(session => session.id === this._wanted);
      if (wanted) {
        await this.select(wanted.id);
      }
    });
  }

  /**
   * Do something; what goes wrong is shown, and the answer is then undefined.
   */
  async attempt<T>(action: () => Promise<T>): Promise<T | undefined> {
    try {
      return await action();
    } catch (error) {
      this._error = error;
      return undefined;
    } finally {
      this.changed();
    }
  }

  dismissError(): void {
    this._error = null;
    this.changed();
  }

  show(view: View): void {
    this._view = view;
    this.changed();
  }

  /**
   * Show a session.
   */
  async select(id: string): Promise<void> {
    const info = this._sessions.find(session => session.id === id);
    this._view = 'session';
    if (!info || this._current?.id === id) {
      this.changed();
      return;
    }
    const session = new SessionModel(this.client, info, error =>
      this._lose(session, error)
    );
    this._replace(session);
    await this.attempt(async () => {
      try {
        await session.open();
      } catch (error) {
        if (this._current === session) {
          this._replace(null);
        }
        throw error;
      }
    });
  }

  /**
   * Show the empty panel: the session is created with the first message.
   */
  startNew(): void {
    this._view = 'session';
    this._replace(null);
  }

  /**
   * Send a message to the current session, or to a new one.
   */
  async send(content: string): Promise<void> {
    await this.attempt(() => this._send(content, []));
  }

  /**
   * Send what was typed; it is kept as a draft until the server has taken it.
   *
   * @param context - What goes with it.
   */
  async sendDraft(context: readonly ContextPart[] = []): Promise<void> {
    const content = this.draft(this._current?.id ?? null).trim();
    await this.attempt(async () => {
      const session = await this._send(content, context, created => {
        this.setDraft(created, content);
        this.setDraft(null, '');
      });
      this.setDraft(session, '');
      this._draftVersion++;
    });
  }

  /**
   * The mode of the current session, or of the one that the first message creates.
   */
  get mode(): Mode {
    const byDefault = this._settings?.settings.mode?.value as Mode | undefined;
    return this._current?.info.mode ?? this._newMode ?? byDefault ?? 'agent';
  }

  async setMode(mode: Mode): Promise<void> {
    const session = this._current;
    if (session) {
      await this.attempt(() => this.client.changeSession(session.id, { mode }));
    } else {
      this._newMode = mode;
      this.changed();
    }
  }

  /**
   * The agents that can be chosen, as far as they were read.
   */
  get agents(): readonly IAgent[] {
    return this._agents;
  }

  async refreshAgents(): Promise<void> {
    await this.attempt(async () => {
      this._agents = await this.client.agents();
    });
  }

  /**
   * The agent of the current session, or of the one that the first message creates.
   */
  get agent(): string {
    const byDefault = this._settings?.settings.agent?.value as
      string | undefined;
    return (
      this._current?.info.agent ?? this._newAgent ?? byDefault ?? DEFAULT_AGENT
    );
  }

  async setAgent(agent: string): Promise<void> {
    const session = this._current;
    if (session) {
      await this.attempt(() =>
        this.client.changeSession(session.id, { agent })
      );
    } else {
      this._newAgent = agent;
      this.changed();
    }
  }

  async stop(): Promise<void> {
    const session = this._current;
    if (session) {
      await this.attempt(() => this.client.setState(session.id, 'stop'));
    }
  }

  /**
   * Let the agent go on, with more of what it has used all of.
   */
  async resume(): Promise<void> {
    const session = this._current;
    if (session) {
      await this.attempt(async () => {
        const { id, info } = session;
        const extension = extensionOf(info);
        if (extension) {
          await this.client.changeSession(id, extension);
        }
        await this.client.setState(id, 'run');
      });
    }
  }

  /**
   * Approve or reject the action that waits.
   *
   * @returns Whether the decision counted; false when it came too late.
   */
  async decide(action: number, decision: IDecision): Promise<boolean> {
    const session = this._current;
    if (!session) {
      return false;
    }
    try {
      await this.client.decide(session.id, action, decision);
      return true;
    } catch (error) {
      this._error = error;
      if (error instanceof ApiError && error.status === 409) {
        await session.refresh();
      }
      return false;
    } finally {
      this.changed();
    }
  }

  /**
   * Say whether the session's sandbox may reach a place.
   */
  async changeAccess(place: IPlace, access: Access): Promise<void> {
    const session = this._current;
    if (session) {
      await this.attempt(() =>
        this.client.changeAccess(session.id, place, access)
      );
    }
  }

  /**
   * Change what a session may take.
   */
  async changeSession(id: string, change: ISessionChange): Promise<void> {
    await this.attempt(() => this.client.changeSession(id, change));
  }

  /**
   * Say which secrets the session's sandbox may have.
   */
  async allowSecrets(id: string, secrets: string[]): Promise<void> {
    await this.attempt(() => this.client.changeSession(id, { secrets }));
  }

  /**
   * Remove what was installed in the sandboxes of the session's workspace.
   *
   * @returns Whether it is gone.
   */
  async removePackages(id: string): Promise<boolean> {
    let gone = false;
    await this.attempt(async () => {
      await this.client.removePackages(id);
      gone = true;
    });
    return gone;
  }

  async rename(id: string, title: string): Promise<void> {
    await this.attempt(async () => {
      const info = await this.client.changeSession(id, { title });
      this._sessions = this._sessions.map(old => (old.id === id ? info : old));
    });
  }

  async delete(id: string): Promise<void> {
    await this.attempt(async () => {
      await this.client.deleteSession(id);
      this._sessions = this._sessions.filter(session => session.id !== id);
      this.setDraft(id, '');
      if (this._current?.id === id) {
        this._replace(null);
      }
    });
  }

  /**
   * Read the list of sessions anew.
   */
  async refreshSessions(): Promise<void> {
    await this.attempt(async () => {
      this._sessions = await this.client.sessions();
    });
  }

  /**
   * Read the settings and the models anew.
   */
  async refreshSettings(): Promise<void> {
    await this.attempt(async () => {
      const [settings, models] = await Promise.all([
        this.client.settings(),
        this.client.models()
      ]);
      this._settings = settings;
      this._models = models;
    });
  }

  /**
   * Look for models that servers on the computer of the Jupyter server have.
   */
  async findLocalModels(): Promise<void> {
    await this.attempt(async () => {
      this._models = await this.client.models(true);
    });
  }

  /**
   * Keep secrets, see `saveSecrets`, and change settings. The open session takes over a changed
   * model.
   *
   * Throws what the server says, for the form to show.
   */
  async saveSettings(
    change: SettingsChange,
    secrets: ISecretsDraft = NO_SECRETS,
    onKept: (left: ISecretsDraft) => void = () => undefined
  ): Promise<void> {
    let kept = false;
    try {
      await saveSecrets(this.client, secrets, left => {
        kept = true;
        onKept(left);
      });
      this._settings = await this.client.changeSettings(change);
    } catch (error) {
      if (kept) {
        await this.refreshSettings();
      }
      throw error;
    }
    const model = this._settings.settings.model?.value;
    const session = this._current;
    if (session && change.model !== undefined && typeof model === 'string') {
      await this.client.changeSession(session.id, { model });
    }
    await this.refreshSettings();
  }

  draft(session: string | null): string {
    return this._drafts.get(session);
  }

  setDraft(session: string | null, text: string): void {
    this._drafts.set(session, text);
    this._saveState();
  }

  /**
   * Put a text behind what is typed, for the person to send, unless it is there already.
   */
  propose(text: string): void {
    const id = this._current?.id ?? null;
    const draft = this.draft(id);
    if (!draft.includes(text)) {
      this.setDraft(id, draft.trim() ? `${draft.trimEnd()}\n${text}` : text);
      this._draftVersion++;
    }
    this.show('session');
  }

  /**
   * Changes when a draft was changed by something else than typing.
   */
  get draftVersion(): number {
    return this._draftVersion;
  }

  /**
   * What the person does not send of their notebooks, in any session.
   */
  get contextOff(): readonly ContextKind[] {
    return this._contextOff;
  }

  /**
   * Send a kind of context no more, or again.
   */
  toggleContext(kind: ContextKind): void {
    const others = this._contextOff.filter(other => other !== kind);
    const wasOff = others.length < this._contextOff.length;
    this._contextOff = wasOff ? others : [...others, kind];
    this._saveState();
    this.changed();
  }

  close(): void {
    this._current?.close();
    this.dispose();
  }

  /**
   * @param onCreate - Called with the id of a session that had to be created, before it is shown.
   *
   * @returns The session's id.
   */
  private async _send(
    content: string,
    context: readonly ContextPart[],
    onCreate?: (id: string) => void
  ): Promise<string> {
    this._error = null;
    let id = this._current?.id;
    if (id === undefined) {
      const info = await this.client.createSession(
        this._newMode,
        this._newAgent ? { agent: this._newAgent } : {}
      );
      id = info.id;
      this._sessions = [info, ...this._sessions];
      onCreate?.(id);
      await this.select(id);
    }
    await this.client.sendMessage(id, content, context);
    return id;
  }

  private _replace(session: SessionModel | null): void {
    this._current?.close();
    this._current = session;
    this._newMode = undefined;
    this._newAgent = undefined;
    this._saveState();
    session?.subscribe(() => this._follow(session));
    this.changed();
  }

  /**
   * Keep the list in step with what the open session's socket says.
   */
  private _follow(session: SessionModel): void {
    const { info } = session;
    if (session.takeFilesChanged()) {
      this._hooks.filesChanged();
    }
    const listed = this._sessions.find(session => session.id === info.id);
    if (listed && listed.state !== info.state) {
      this._hooks.stateChanged(session, listed.state);
    }
    if (listed && listed !== info) {
      this._sessions = this._sessions.map(old =>
        old.id === info.id ? info : old
      );
      this.changed();
    }
  }

  private _lose(session: SessionModel, error: ApiError): void {
    this._error = error;
    if (error.status === 404 && this._current === session) {
      this._sessions = this._sessions.filter(({ id }) => id !== session.id);
      this._replace(null);
    }
    this.changed();
  }

  private _saveState(): void {
    this._hooks.save({
      session: this._current?.id ?? null,
      drafts: this._drafts.all,
      contextOff: this._contextOff
    });
  }

  private _agents: readonly IAgent[] = [];
  private _contextOff: readonly ContextKind[];
  private _current: SessionModel | null = null;
  private _draftVersion = 0;
  private readonly _drafts: Drafts;
  private _error: unknown = null;
  private _models: readonly IModel[] = [];
  private _newAgent: string | undefined;
  private _newMode: Mode | undefined;
  private _ready = false;
  private _sessions: readonly ISessionInfo[] = [];
  private _settings: ISettings | null = null;
  private _view: View = 'session';
  private _wanted: string | null;
}
