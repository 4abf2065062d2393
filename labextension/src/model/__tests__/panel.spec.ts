import { ApiError } from '../client';
import type { ApiClient, ISecret } from '../client';
import type { ContextPart } from '../context';
import type { ISessionInfo, Mode } from '../frames';
import { PanelModel } from '../panel';
import type { ISavedState } from '../panel';
import { NO_SECRETS } from '../secrets';
import { log, secret, sessionInfo, userMessage } from './samples';

/**
 * A server with sessions, of which each has one message; what is in `failing` fails.
 */
class FakeClient {
  sessionsThere: ISessionInfo[] = [];
  changes: Partial<ISessionInfo>[] = [];
  sent: string[] = [];
  contexts: (readonly ContextPart[])[] = [];
  secrets: ISecret[] = [];
  failing: Partial<Record<keyof ApiClient, ApiError>> = {};

  sessions = (): Promise<ISessionInfo[]> =>
    this._do('sessions', this.sessionsThere);

  settings = (): Promise<unknown> =>
    this._do('settings', { settings: {}, secrets: [...this.secrets] });

  changeSettings = (): Promise<unknown> =>
    this._do('changeSettings', { settings: {}, secrets: [] });

  setSecret = (name: string): Promise<unknown> => {
    this.secrets.push(secret({ name }));
    return this._do('setSecret', undefined);
  };

  models = (): Promise<unknown> => this._do('models', []);

  agents = (): Promise<unknown> =>
    this._do('agents', [
      { name: 'mine', title: 'Mine', description: '', problem: '' }
    ]);

  changeSession = (
    id: string,
    change: Partial<ISessionInfo>
  ): Promise<ISessionInfo> => {
    this.changes.push(change);
    return this._do('changeSession', sessionInfo({ id }));
  };

  createSession = (
    _mode?: Mode,
    more: Partial<ISessionInfo> = {}
  ): Promise<ISessionInfo> => {
    const info = sessionInfo({ id: 'new', ...more });
    this.sessionsThere.push(info);
    return this._do('createSession', info);
  };

  session = (id: string): Promise<ISessionInfo> =>
    this._do('session', sessionInfo({ id, state: 'finished', last_id: 0 }));

  eventsBefore = (): Promise<unknown> =>
    this._do('eventsBefore', log(0, userMessage('hi')));

  sendMessage = (
    _: string,
    content: string,
    context: readonly ContextPart[]
  ): Promise<unknown> => {
    const answer = this._do('sendMessage', undefined);
    return answer.then(() => {
      this.sent.push(content);
      this.contexts.push(context);
    });
  };

  decide = (): Promise<unknown> => this._do('decide', undefined);

  openStream = (): unknown => ({ close: () => undefined });

  private _do<T>(name: keyof ApiClient, answer: T): Promise<T> {
    const error = this.failing[name];
    return error ? Promise.reject(error) : Promise.resolve(answer);
  }
}

const UNREACHABLE = new ApiError(0, 'unreachable', '', '');

describe('PanelModel', () => {
  let client: FakeClient;
  let saved: ISavedState | null;
  let panel: PanelModel;

  function makePanel(state: ISavedState | null = null): PanelModel {
    panel?.close();
    panel = new PanelModel(client as unknown as ApiClient, state, {
      save: newState => {
        saved = newState;
      },
      filesChanged: () => undefined,
      stateChanged: () => undefined
    });
    return panel;
  }

  beforeEach(() => {
    client = new FakeClient();
    client.sessionsThere = [sessionInfo({ id: 'a' }), sessionInfo({ id: 'b' })];
    saved = null;
    makePanel();
  });

  afterEach(() => panel.close());

  it('opens the session that was open last', async () => {
    makePanel({ session: 'b', drafts: {} });
    await panel.start();
    expect(panel.current?.id).toBe('b');
    expect(panel.current?.timeline.items).toHaveLength(1);
  });

  it('opens none that is no longer there', async () => {
    makePanel({ session: 'gone', drafts: {} });
    await panel.start();
    expect([panel.ready, panel.current]).toEqual([true, null]);
  });

  it('says when the server cannot be reached, and can try again', async () => {
    client.failing.sessions = UNREACHABLE;
    await panel.start();
    expect([panel.ready, panel.error]).toEqual([false, UNREACHABLE]);
    delete client.failing.sessions;
    await panel.start();
    expect([panel.ready, panel.error]).toEqual([true, null]);
  });

  it('creates a session with the first message and clears the draft', async () => {
    await panel.start();
    panel.setDraft(null, ' do it ');
    await panel.sendDraft();
    expect(client.sent).toEqual(['do it']);
    expect(panel.current?.id).toBe('new');
    expect(saved).toMatchObject({ session: 'new', drafts: {} });
  });

  it('chooses an agent for the session to come, or for the one that is open', async () => {
    await panel.start();
    expect(panel.agent).toBe('codeact');
    await panel.refreshAgents();
    expect(panel.agents.map(agent => agent.name)).toEqual(['mine']);
    await panel.setAgent('mine');
    expect([panel.agent, client.changes]).toEqual(['mine', []]);
    panel.setDraft(null, 'do it');
    await panel.sendDraft();
    expect(panel.current?.info.agent).toBe('mine');
    await panel.setAgent('readonly');
    expect(client.changes).toEqual([{ agent: 'readonly' }]);
    panel.startNew();
    expect(panel.agent).toBe('codeact');
  });

  it('sends what goes along with what was typed, and with nothing else', async () => {
    await panel.start();
    panel.setDraft(null, 'do it');
    const context: ContextPart[] = [{ kind: 'notebook', path: 'a.ipynb' }];
    await panel.sendDraft(context);
    await panel.send('an answer');
    expect(client.contexts).toEqual([context, []]);
  });

  it('keeps what the person does not send of their notebooks', () => {
    panel.toggleContext('variables');
    panel.toggleContext('error');
    makePanel(saved);
    expect(panel.contextOff).toEqual(['variables', 'error']);
    panel.toggleContext('variables');
    expect(panel.contextOff).toEqual(['error']);
    expect(saved?.contextOff).toEqual(['error']);
  });

  it('keeps what was typed when it could not be sent', async () => {
    await panel.start();
    client.failing.sendMessage = UNREACHABLE;
    panel.setDraft(null, 'do it');
    await panel.sendDraft();
    expect(panel.draft('new')).toBe('do it');
    expect(panel.error).toBe(UNREACHABLE);
    expect(saved).toMatchObject({ session: 'new', drafts: { new: 'do it' } });
    delete client.failing.sendMessage;
    await panel.sendDraft();
    expect(client.sent).toEqual(['do it']);
    expect(client.sessionsThere).toHaveLength(3);
  });

  it('leaves what is typed alone when an example is sent', async () => {
    await panel.start();
    panel.setDraft(null, 'mine');
    await panel.send('an example');
    expect(client.sent).toEqual(['an example']);
    expect(panel.draft(null)).toBe('mine');
  });

  it('keeps a draft for each session over a reload', async () => {
    await panel.start();
    panel.setDraft('a', 'for a');
    panel.setDraft('b', 'for b');
    makePanel(saved);
    expect([panel.draft('a'), panel.draft('b')]).toEqual(['for a', 'for b']);
  });

  it('reads the session anew when a decision came too late', async () => {
    await panel.start();
    await panel.select('a');
    client.failing.decide = new ApiError(409, 'stale', 'Too late.', '');
    await expect(panel.decide(0, { decision: 'approve' })).resolves.toBe(false);
    expect(panel.error).toBe(client.failing.decide);
    expect(panel.current?.info.state).toBe('finished');
  });

  it('shows no half of a session that cannot be opened', async () => {
    await panel.start();
    client.failing.eventsBefore = new ApiError(409, 'in_use', 'In use.', '');
    await panel.select('a');
    expect([panel.current, panel.error]).toEqual([
      null,
      client.failing.eventsBefore
    ]);
  });

  it('knows a secret that was kept before the settings were refused', async () => {
    const refused = new ApiError(422, 'invalid_field', 'No.', '', 'model');
    client.failing.changeSettings = refused;
    const added = { name: 'TOKEN', value: 'x' };
    const left: unknown[] = [];
    const saving = panel.saveSettings(
      { model: 'x' },
      { ...NO_SECRETS, added },
      rest => left.push(rest)
    );
    await expect(saving).rejects.toBe(refused);
    expect(panel.settings?.secrets).toEqual([secret({ name: 'TOKEN' })]);
    expect(left).toEqual([NO_SECRETS]);
    expect(panel.error).toBeNull();
  });
});
