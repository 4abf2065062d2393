import { ApiError } from '../client';
import type { ApiClient } from '../client';
import type { ContextKind, ContextPart } from '../context';
import type { AgentState } from '../frames';
import { handOver } from '../handover';
import { PanelModel } from '../panel';
import { agentMessage, log, sessionInfo, userMessage } from './samples';

const TEXT = 'Fix it';
const PARTS: ContextPart[] = [{ kind: 'notebook', path: 'a.ipynb' }];

const QUESTION = {
  ...agentMessage('Which one?'),
  wait_for_response: true,
  llm: { response_id: 'r', tool_call_id: 'c', tool_name: 'ask_user' }
};

interface IWorld {
  /** Of the session that is open; none by default. */
  state?: AgentState;
  /** Its last message. */
  asked?: string;
  /** Whether the agent then asked something. */
  question?: boolean;
  name?: string;
  ready?: boolean;
  off?: ContextKind[];
  draft?: string;
  failing?: boolean;
}

describe('handOver', () => {
  let sent: unknown[];
  let panel: PanelModel;

  async function open(world: IWorld): Promise<void> {
    const { state, asked = '', name = 'openai/x', ready = true } = world;
    const session = sessionInfo({ state, model: name, last_id: 0 });
    sent = [];
    const client = {
      sessions: () => Promise.resolve([session]),
      settings: () => Promise.resolve({ settings: { model: { value: name } } }),
      models: () =>
        Promise.resolve([
          { name: 'tour', ready: true },
          { name, ready }
        ]),
      createSession: () => Promise.resolve(sessionInfo({ id: 'new' })),
      eventsBefore: () =>
        Promise.resolve(
          log(0, userMessage(asked), ...(world.question ? [QUESTION] : []))
        ),
      openStream: () => ({ close: () => undefined }),
      sendMessage: (...args: unknown[]) => {
        sent.push(args);
        const error = new ApiError(0, 'unreachable', '', '');
        return world.failing ? Promise.reject(error) : Promise.resolve();
      }
    };
    panel = new PanelModel(
      client as unknown as ApiClient,
      {
        session: state ? session.id : null,
        drafts: { [state ? session.id : '']: world.draft ?? '' },
        contextOff: world.off
      },
      {
        save: () => undefined,
        filesChanged: () => undefined,
        stateChanged: () => undefined
      }
    );
    await panel.start();
  }

  async function fix(): Promise<void> {
    await handOver(panel, TEXT, () => Promise.resolve(PARTS));
  }

  afterEach(() => panel.close());

  it.each([
    [undefined, 'new'],
    ['finished', 'a'],
    ['awaiting_user_input', 'a'],
    ['stopped', 'a']
  ] as const)('sends where the session is %s', async (state, id) => {
    await open({ state });
    await fix();
    expect(sent).toEqual([[id, TEXT, PARTS]]);
    expect(panel.draft(id)).toBe('');
  });

  it.each(['running', 'awaiting_user_confirmation', 'paused'] as const)(
    'leaves a session alone that is %s, and sends nothing beside it',
    async state => {
      await open({ state, asked: 'something else' });
      await fix();
      expect(sent).toEqual([]);
      expect([panel.current, panel.draft(null)]).toEqual([null, TEXT]);
      expect(panel.draft('a')).toBe('');
    }
  );

  it('is no answer to what the agent asked', async () => {
    await open({ state: 'awaiting_user_input', question: true });
    await fix();
    expect(sent).toEqual([]);
    expect([panel.current, panel.draft(null)]).toEqual([null, TEXT]);
  });

  it('asks a session again only when it is not at it', async () => {
    await open({ state: 'running', asked: TEXT });
    await fix();
    expect([panel.current?.id, panel.draft(null)]).toEqual(['a', '']);
    panel.close();
    await open({ state: 'finished', asked: TEXT });
    await fix();
    expect(sent).toHaveLength(1);
  });

  it.each([
    { name: 'tour' },
    { ready: false },
    { off: ['error'] },
    { off: ['variables', 'cell'] },
    { off: ['notebook'] }
  ] satisfies IWorld[])('lets the person send it with %j', async world => {
    await open(world);
    const version = panel.draftVersion;
    await fix();
    await fix();
    expect([sent, panel.draft(null)]).toEqual([[], TEXT]);
    expect(panel.draftVersion).toBe(version + 1);
  });

  it('sends where only something else is switched off', async () => {
    await open({ off: ['variables', 'others', 'selection'] });
    await fix();
    expect(sent).toHaveLength(1);
  });

  it('sends nothing that the person has typed', async () => {
    await open({ state: 'finished', draft: 'not yet \n' });
    await fix();
    expect([sent, panel.draft('a')]).toEqual([[], `not yet\n${TEXT}`]);
  });

  it('sends once, however often it is pressed', async () => {
    await open({});
    await Promise.all([fix(), fix(), fix()]);
    expect(sent).toHaveLength(1);
    expect(panel.draft('new')).toBe('');
  });

  it('sends nothing when the person typed or went elsewhere meanwhile', async () => {
    await open({});
    await handOver(panel, TEXT, () => {
      panel.setDraft(null, 'mine');
      return Promise.resolve(PARTS);
    });
    expect([sent, panel.draft(null)]).toEqual([[], `mine\n${TEXT}`]);
    panel.close();
    await open({});
    await handOver(panel, TEXT, async () => {
      await panel.select('a');
      return PARTS;
    });
    expect([sent, panel.draft('a')]).toEqual([[], TEXT]);
  });

  it('sends nothing when it is not known what would go with it', async () => {
    await open({});
    await handOver(panel, TEXT, () => Promise.reject(new Error('no')));
    expect([sent, panel.draft(null)]).toEqual([[], TEXT]);
    expect(panel.error).toEqual(new Error('no'));
  });

  it('keeps what could not be sent', async () => {
    await open({ state: 'finished', failing: true });
    await fix();
    expect(panel.draft('a')).toBe(TEXT);
    expect(panel.error).toBeInstanceOf(ApiError);
  });
});
