import { act, createElement } from 'react';
import { createRoot } from 'react-dom/client';
import type { Root } from 'react-dom/client';
import { mcpServer, workspaceServer } from '../../model/__tests__/mcpserver';
import { trans } from '../../model/__tests__/translation';
import { ApiError } from '../../model/client';
import type { ApiClient, IMcpConsent, ISettings } from '../../model/client';
import { PanelModel } from '../../model/panel';
import type { IServices } from '../services';
import { ServicesContext } from '../services';
import { SettingsView } from '../settingsview';

const FILE = '/home/ada/.openhands/config.toml';
const PANEL = { origin: 'panel', where: 'settings.json', line: null };
const DEFAULT = { origin: 'default', where: '', line: null };

const SETTINGS: ISettings = {
  settings: {
    model: { value: 'ollama_chat/small', ...PANEL, locked: false },
    agent: {
      value: 'my.module:Mine',
      origin: 'config.toml',
      where: FILE,
      line: 3,
      locked: false
    },
    fallback_models: { value: ['a', 'b'], ...PANEL, locked: false },
    tool_calls: { value: 'auto', ...DEFAULT, locked: false },
    model_timeout: { value: 120, ...DEFAULT, locked: true }
  },
  secrets: [],
  problems: [
    { severity: 'error', where: FILE, line: 7, message: 'It is \u202ewrong.' },
    { severity: 'warning', where: 'environment', line: null, message: 'Odd.' }
  ]
};

const SERVER = mcpServer({
  state: 'failed',
  message: 'It ended while it was being started.',
  stderr: 'no license \u202e'
});

const THEIRS = workspaceServer(
  {
    command: 'sh',
    args: ['-c', '<img src=x> \u202e && rm'],
    env: { A: '${TOKEN}' }
  },
  { name: 'theirs', variables: ['TOKEN'], digest: 'd2' }
);

/**
 * A server that keeps what it is told.
 */
class FakeClient {
  changed: unknown[] = [];
  restarted: string[] = [];
  theirs = THEIRS;
  consents: [string, string, IMcpConsent][] = [];
  answerTest: (() => void) | null = null;

  settings = (): Promise<unknown> => Promise.resolve(SETTINGS);
  changeSettings = (change: unknown): Promise<unknown> => {
    this.changed.push(change);
    return Promise.resolve(SETTINGS);
  };
  models = (): Promise<unknown> =>
    Promise.resolve([
      {
        name: 'ollama_chat/small',
        label: 'small',
        provider: 'ollama',
        ready: true,
        hint: 'It takes 4096 tokens only. Set context_window to more.',
        local: true,
        window: 4096
      }
    ]);
  agents = (): Promise<unknown> =>
    Promise.resolve([
      {
        name: 'codeact',
        title: 'CodeAct',
        description: 'Does it.',
        problem: ''
      },
      { name: 'broken', title: 'Broken', description: '', problem: 'No.' }
    ]);
  testModel = (): Promise<unknown> =>
    new Promise(resolve => {
      this.answerTest = () =>
        resolve({
          model: 'ollama_chat/small',
          checks: [
            { subject: 'key', status: 'ok', message: 'It answers.', hint: '' },
            {
              subject: 'tool_calls',
              status: 'failed',
              message: 'It called none.',
              hint: 'Set tool_calls to off.'
            }
          ]
        });
    });
  pythons = (): Promise<unknown> => Promise.resolve([]);
  installStatus = (): Promise<unknown> =>
    Promise.resolve({
      file: '',
      state: 'none',
      message: '',
      hint: '',
      lines: []
    });
  mcp = (): Promise<unknown> =>
    Promise.resolve({
      servers: [
        { ...SERVER, state: this.restarted.length ? 'ready' : 'failed' },
        this.theirs
      ],
      warnings: []
    });
  restartMcp = (name: string): Promise<void> => {
    this.restarted.push(name);
    return Promise.resolve();
  };
  consentToMcp = (
    name: string,
    _session: string | null,
    digest: string,
    consent: IMcpConsent
  ): Promise<void> => {
    this.consents.push([name, digest, consent]);
    if (name === 'theirs' && digest !== this.theirs.digest) {
      return Promise.reject(new ApiError(409, 'mcp_server_changed', '', ''));
    }
    this.theirs = { ...this.theirs, consent: consent.use ?? null };
    return Promise.resolve();
  };
}

describe('SettingsView', () => {
  let client: FakeClient;
  let host: HTMLElement;
  let model: PanelModel;
  let root: Root;

  beforeEach(async () => {
    (globalThis as Record<string, unknown>).IS_REACT_ACT_ENVIRONMENT = true;
    client = new FakeClient();
    model = new PanelModel(client as unknown as ApiClient, null, {
      save: () => undefined,
      filesChanged: () => undefined,
      stateChanged: () => undefined
    });
    host = document.body.appendChild(document.createElement('div'));
    root = createRoot(host);
    const services = { model, trans } as unknown as IServices;
    await settled(() =>
      root.render(
        createElement(
          ServicesContext.Provider,
          { value: services },
          createElement(SettingsView)
        )
      )
    );
    // What is folded away is there once it is asked for.
    await settled(() => {
      for (const details of host.querySelectorAll('details')) {
        details.open = true;
        details.dispatchEvent(new Event('toggle'));
      }
    });
  });

  afterEach(() => {
    act(() => root.unmount());
    host.remove();
    model.close();
  });

  /**
   * Do something, and wait until what the server answers at once is drawn.
   */
  async function settled(what: () => void): Promise<void> {
    // eslint-disable-next-line @typescript-eslint/require-await
    await act(async () => what());
    let before;
    do {
      before = host.innerHTML;
      await act(() => new Promise(requestAnimationFrame));
    } while (host.innerHTML !== before);
  }

  function labelled<T extends HTMLElement>(label: string): T {
    const found = [...host.querySelectorAll('label')].find(
      ({ textContent }) => textContent === label
    );
    return document.getElementById(found!.htmlFor) as T;
  }

  function button(name: string): HTMLButtonElement {
    return [...host.querySelectorAll('button')].find(
      b => (b.getAttribute('aria-label') ?? b.textContent) === name
    )!;
  }

  async function type(
    field: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement,
    text: string
  ): Promise<void> {
    const property = Object.getOwnPropertyDescriptor(
      Object.getPrototypeOf(field) as object,
      'value'
    )!;
    await settled(() => {
      // React keeps a setter of its own on the element.
      property.set!.call(field, text);
      field.dispatchEvent(
        new Event(field.tagName === 'SELECT' ? 'change' : 'input', {
          bubbles: true
        })
      );
    });
  }

  const click = (name: string): Promise<void> =>
    settled(() => button(name).click());

  it('saves what was changed of the model, and nothing else', async () => {
    const others = labelled<HTMLTextAreaElement>('Other models if it fails');
    expect(others.value).toBe('a\nb');
    const silence = labelled<HTMLInputElement>(
      'Seconds of silence until a call is given up'
    );
    expect([silence.value, silence.disabled]).toEqual(['120', true]);
    await type(others, 'c\n\nd');
    await type(labelled('Window, in tokens'), '32768');
    await type(labelled('The model calls tools'), 'off');
    await type(labelled('Agent of new sessions'), 'codeact');
    await click('Save');
    expect(client.changed).toEqual([
      {
        fallback_models: ['c', 'd'],
        context_window: 32768,
        tool_calls: 'off',
        agent: 'codeact'
      }
    ]);
  });

  it('tells where each value is written, and what is not in force', () => {
    const told = (label: string): HTMLElement =>
      labelled(label).closest('.jp-OpenHands-field')!.querySelector('span')!;
    const agent = told('Agent of new sessions');
    expect(agent.textContent).toBe('From your config.toml, line 3');
    expect(agent.title).toBe(FILE);
    expect(
      told('Seconds of silence until a call is given up').textContent
    ).toBe('Locked by the administrator');
    expect(host.textContent).toContain('What is locked has the value');
    const problems = host.querySelectorAll('.jp-OpenHands-problems > li');
    expect([...problems].map(({ textContent }) => textContent)).toEqual([
      `Error. ${FILE}, line 7: It is ⟨U+202E⟩wrong.`,
      'environment: Odd.'
    ]);
  });

  it('offers the agents that can be used, beside the one that is set', () => {
    const { options, value } = labelled<HTMLSelectElement>(
      'Agent of new sessions'
    );
    expect(value).toBe('my.module:Mine');
    expect([...options].map(({ text }) => text)).toEqual(['Mine', 'CodeAct']);
  });

  it('tests the model once at a time, and only what is saved', async () => {
    expect(host.textContent).toContain(
      '4096 tokens only. Set “Window, in tokens” to more.'
    );
    button('Test the model').focus();
    await click('Test the model');
    expect(host.textContent).toContain('Asking the model…');
    const answer = client.answerTest!;
    await click('Test the model');
    expect(client.answerTest).toBe(answer);
    await settled(() => answer());
    expect(document.activeElement).toBe(button('Test the model'));
    const report = host.querySelector('[aria-label^="Test of"]')!;
    expect([...report.children].map(({ textContent }) => textContent)).toEqual([
      'Key: works It answers. ',
      'Tool calls: does not work It called none. Set “The model calls tools” to off.'
    ]);
    client.answerTest = null;
    await type(labelled('Model'), 'openai/other');
    await click('Test the model');
    expect(client.answerTest).toBeNull();
  });

  it('tells why an MCP server failed, and starts it anew', async () => {
    const server = button('Restart db').closest('li')!;
    expect(server.textContent).toContain('Failed');
    expect(server.textContent).toContain(
      'It ended while it was being started.'
    );
    expect(server.querySelector('pre')!.textContent).toBe(
      'no license ⟨U+202E⟩'
    );
    await click('Restart db');
    expect(client.restarted).toEqual(['db']);
    expect(server.textContent).toContain('Ready, 0 tools');
  });

  it('allows a server of the workspace as it was shown, and takes that back', async () => {
    expect(button('Start theirs')).toBeUndefined();
    button('Allow theirs…').focus();
    await click('Allow theirs…');
    const shown = dialog();
    expect(shown.getAttribute('aria-label')).toBe('Allow this MCP server?');
    expect([...shown.querySelectorAll('dd')].map(d => d.textContent)).toEqual([
      'theirs',
      '/home/ada/work/.mcp.json',
      'TOKEN',
      'sh',
      '-c',
      '<img src=x> ⟨U+202E⟩ && rm',
      'A=${TOKEN}'
    ]);
    expect(shown.querySelector('img')).toBeNull();
    expect(shown.querySelector('[role="alert"]')).toBeNull();
    await pick(/Never ask/);

    // Meanwhile it becomes another one: that is shown, and nothing is chosen yet.
    client.theirs = workspaceServer(
      { command: 'other' },
      { name: 'theirs', digest: 'd3' }
    );
    await answer('Allow');
    expect(dialog().querySelector('[role="alert"]')).not.toBeNull();
    expect(dialog().textContent).toContain('other');
    await answer('Allow');
    expect(client.consents).toEqual([
      ['theirs', 'd2', { use: true, trust: true }],
      ['theirs', 'd3', { use: true, trust: false }]
    ]);
    const back = button('Take back that theirs is allowed');
    expect(document.activeElement).toBe(back);
    await click('Take back that theirs is allowed');
    expect(client.consents[2]).toEqual([
      'theirs',
      'd3',
      { use: false, trust: null }
    ]);
    expect(document.activeElement).toBe(button('Allow theirs…'));

    await click('Allow theirs…');
    await answer('Cancel');
    expect(client.consents).toHaveLength(3);
  });

  it('lets the person say what tools of a server of their own may', async () => {
    await click('Trust db…');
    await pick(/only read/);
    await answer('Save');
    await click('Trust db…');
    await pick(/As it is configured/);
    await answer('Save');
    expect(client.consents).toEqual([
      ['db', 'd1', { trust: 'reads' }],
      ['db', 'd1', { trust: null }]
    ]);
  });

  function dialog(): HTMLElement {
    return document.querySelector<HTMLElement>('.jp-Dialog')!;
  }

  const pick = (label: RegExp): Promise<void> =>
    settled(() =>
      [...dialog().querySelectorAll('label')]
        .find(({ textContent }) => label.test(textContent))!
        .click()
    );

  const answer = (label: string): Promise<void> =>
    settled(() =>
      [...dialog().querySelectorAll('button')]
        .find(({ textContent }) => textContent === label)!
        .click()
    );
});
