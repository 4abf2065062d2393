import { Dialog, ReactWidget } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { useId, useState } from 'react';
import type { IMcpServer, McpTrust } from '../model/client';
import { revealOnOneLine } from '../model/inert';
import { mcpFacts } from '../model/mcp';

/**
 * Which tools may run without asking.
 */
export interface IMcpChoice {
  /** Null for what is configured. */
  trust: McpTrust | null;
}

/**
 * Show what a server is, and ask whether it is allowed, or only what its tools may.
 *
 * @param changed - Whether the person has seen another definition of it before.
 *
 * @returns The choice; null for no.
 */
export async function askToAllow(
  trans: TranslationBundle,
  server: IMcpServer,
  changed: boolean
): Promise<IMcpChoice | null> {
  const asks = server.consent === false;
  const title = asks
    ? trans.__('Allow this MCP server?')
    : trans.__('Trust this MCP server?');
  const allow = { label: asks ? trans.__('Allow') : trans.__('Save') };
  const dialog = new Dialog<IMcpChoice>({
    title,
    body: new ConsentBody(trans, server, changed),
    buttons: [
      Dialog.cancelButton({ label: trans.__('Cancel') }),
      asks ? Dialog.warnButton(allow) : Dialog.okButton(allow)
    ],
    defaultButton: 0
  });
  // JupyterLab names only dialogs whose body is a text.
  dialog.node.setAttribute('aria-label', title);
  const { button, value } = await dialog.launch();
  return button.accept ? value : null;
}

class ConsentBody
  extends ReactWidget
  implements Dialog.IBodyWidget<IMcpChoice>
{
  constructor(
    private readonly _trans: TranslationBundle,
    private readonly _server: IMcpServer,
    private readonly _changed: boolean
  ) {
    super();
    this._trust = _server.consent === false ? false : _server.trust;
  }

  getValue(): IMcpChoice {
    return { trust: this._trust };
  }

  override render(): JSX.Element {
    const trans = this._trans;
    return (
      <div className="jp-OpenHands-consent">
        {this._changed && (
          <p role="alert" className="jp-OpenHands-error">
            {trans.__(
              'It was changed while you looked at it, so nothing was allowed. This is what it is now:'
            )}
          </p>
        )}
        <p>{riskText(trans, this._server)}</p>
        <Facts trans={trans} server={this._server} />
        <TrustChoice
          trans={trans}
          server={this._server}
          first={this._trust}
          onChange={trust => {
            this._trust = trust;
          }}
        />
      </div>
    );
  }

  private _trust: McpTrust | null;
}

/**
 * What it means to allow a server.
 */
function riskText(
  trans: TranslationBundle,
  { consent, transport }: IMcpServer
): string {
  const outside =
    transport === 'stdio'
      ? trans.__(
          'It is a program that runs with all your rights, outside the sandbox.'
        )
      : trans.__(
          'It is a service outside the sandbox, which gets what the agent calls it with.'
        );
  return consent === false
    ? `${trans.__('A file of the workspace names it.')} ${outside}`
    : outside;
}

function Facts(props: {
  trans: TranslationBundle;
  server: IMcpServer;
}): JSX.Element {
  const { trans, server } = props;
  return (
    <div
      tabIndex={0}
      role="group"
      aria-label={trans.__('What would be used')}
      className="jp-OpenHands-facts"
    >
      <dl>
        {mcpFacts(trans, server).map(({ label, values }) => (
          <div key={label}>
            <dt>{label}</dt>
            {values.map((value, index) => (
              <dd key={index}>{revealOnOneLine(value)}</dd>
            ))}
          </div>
        ))}
      </dl>
    </div>
  );
}

function TrustChoice(props: {
  trans: TranslationBundle;
  server: IMcpServer;
  first: McpTrust | null;
  onChange: (trust: McpTrust | null) => void;
}): JSX.Element {
  const { trans, server, first, onChange } = props;
  const group = useId();
  const [chosen, setChosen] = useState(first);
  return (
    <fieldset>
      <legend>{trans.__('When the agent calls its tools')}</legend>
      {choices(trans, server).map(({ trust, label }) => (
        <label key={label} className="jp-OpenHands-tick">
          <input
            type="radio"
            name={group}
            checked={trust === chosen}
            onChange={() => {
              setChosen(trust);
              onChange(trust);
            }}
          />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  );
}

function choices(
  trans: TranslationBundle,
  { consent, trust }: IMcpServer
): { trust: McpTrust | null; label: string }[] {
  const found: { trust: McpTrust | null; label: string }[] = [
    { trust: false, label: trans.__('Ask me each time') },
    {
      trust: 'reads',
      label: trans.__(
        'Do not ask for tools that say they only read (that is their own claim)'
      )
    },
    { trust: true, label: trans.__('Never ask: I trust all its tools') }
  ];
  if (consent !== false && typeof trust === 'object') {
    const names = trust.map(revealOnOneLine).join(', ');
    found.push({ trust, label: trans.__('Do not ask for: %1', names) });
  }
  if (consent === null) {
    found.push({ trust: null, label: trans.__('As it is configured') });
  }
  return found;
}
