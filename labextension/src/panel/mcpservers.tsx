import { useEffect, useId, useMemo } from 'react';
import type { IMcpServer, IMcpTool } from '../model/client';
import { revealHidden, revealOnOneLine } from '../model/inert';
import { McpList, mcpStateText } from '../model/mcp';
import { problemText } from '../model/texts';
import { Fold } from './fold';
import { askToAllow } from './mcpconsent';
import { Problem } from './problem';
import { useObservable, useServices } from './services';

/**
 * The MCP servers: how each is, what it offers, what it is allowed, and a button to start it anew.
 */
export function McpServers(): JSX.Element {
  const { model, trans } = useServices();
  const heading = useId();
  const session = model.current?.id ?? null;
  const list = useMemo(
    () => new McpList(model.client, session),
    [model, session]
  );
  useObservable(list);
  useEffect(() => {
    void list.check();
    return () => list.close();
  }, [list]);
  const { status, error, busy } = list;
  return (
    <section className="jp-OpenHands-group" aria-labelledby={heading}>
      <h3 id={heading}>{trans.__('Your MCP servers')}</h3>
      <p className="jp-OpenHands-quiet">
        {trans.__(
          'Tools of your own, from mcp.json or config.toml in the home folder of OpenHands, and those of the workspace that you allow. They run outside the sandbox, with all your rights. Each call asks you first, unless you trust the tool.'
        )}
      </p>
      {error !== null && <Problem error={problemText(trans, error)} />}
      {status?.warnings.map(warning => (
        <p key={warning} className="jp-OpenHands-hint">
          {revealOnOneLine(warning)}
        </p>
      ))}
      {status?.servers.length === 0 && (
        <p className="jp-OpenHands-quiet">{trans.__('There are none.')}</p>
      )}
      {status && status.servers.length > 0 && (
        <ul className="jp-OpenHands-servers" aria-labelledby={heading}>
          {status.servers.map(server => (
            <li key={server.name}>
              <Server server={server} busy={busy} list={list} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Server(props: {
  server: IMcpServer;
  busy: boolean;
  list: McpList;
}): JSX.Element {
  const { server, busy, list } = props;
  const { trans } = useServices();
  const { message, notice, state, stderr, tools } = server;
  const name = revealOnOneLine(server.name);
  const off = busy || state === 'starting';
  const runs = state === 'ready' || state === 'failed';
  return (
    <>
      <div className="jp-OpenHands-serverHead">
        <strong>{name}</strong>
        <span aria-live="polite" className="jp-OpenHands-quiet">
          {mcpStateText(trans, server)}
        </span>
        {state !== 'off' && (
          <button
            type="button"
            className="jp-OpenHands-button"
            // Disabled, it would lose the focus while the server starts.
            aria-disabled={off}
            aria-label={
              runs ? trans.__('Restart %1', name) : trans.__('Start %1', name)
            }
            onClick={off ? undefined : () => void list.restart(server.name)}
          >
            {runs ? trans.__('Restart') : trans.__('Start')}
          </button>
        )}
        <ConsentButtons {...props} />
      </div>
      <p className="jp-OpenHands-quiet">{revealOnOneLine(server.where)}</p>
      {message && (
        <p className="jp-OpenHands-error">{revealOnOneLine(message)}</p>
      )}
      {notice && <p className="jp-OpenHands-hint">{notice}</p>}
      {stderr && (
        <pre className="jp-OpenHands-lines">{revealHidden(stderr)}</pre>
      )}
      {tools.length > 0 && (
        <Fold summary={trans._n('%1 tool', '%1 tools', tools.length)}>
          <ul>
            {tools.map(tool => (
              <Tool key={tool.name} tool={tool} />
            ))}
          </ul>
        </Fold>
      )}
    </>
  );
}

/**
 * Allow a workspace's server or take that back, in one place, which so keeps the focus; and say
 * whose tools run without asking.
 */
function ConsentButtons(props: {
  server: IMcpServer;
  busy: boolean;
  list: McpList;
}): JSX.Element {
  const { server, busy, list } = props;
  const { trans } = useServices();
  const name = revealOnOneLine(server.name);
  const ask = async (): Promise<void> => {
    let shown: IMcpServer | null = server;
    for (let changed = false; shown !== null; changed = true) {
      const choice = await askToAllow(trans, shown, changed);
      if (choice === null) {
        return;
      }
      const use = shown.consent === false ? { use: true } : {};
      shown = await list.consent(shown, { ...use, ...choice });
    }
  };
  const takeBack = (): Promise<unknown> =>
    list.consent(server, { use: false, trust: null });
  const button = (
    label: string,
    named: string,
    act: () => Promise<unknown>
  ): JSX.Element => (
    <button
      type="button"
      className="jp-OpenHands-button"
      aria-disabled={busy}
      aria-label={named}
      onClick={busy ? undefined : () => void act()}
    >
      {label}
    </button>
  );
  return (
    <>
      {server.consent !== null &&
        (server.consent
          ? button(
              trans.__('Take back'),
              trans.__('Take back that %1 is allowed', name),
              takeBack
            )
          : button(trans.__('Allow…'), trans.__('Allow %1…', name), ask))}
      {server.consent !== false &&
        button(trans.__('Trust…'), trans.__('Trust %1…', name), ask)}
    </>
  );
}

function Tool({ tool }: { tool: IMcpTool }): JSX.Element {
  const { trans } = useServices();
  const said =
    tool.read_only === true
      ? trans.__('says that it only reads')
      : tool.destructive === true
        ? trans.__('says that it may destroy')
        : null;
  const asked = tool.trusted
    ? trans.__('runs without asking')
    : trans.__('asks first');
  return (
    <li>
      <code>{revealOnOneLine(tool.tool)}</code>{' '}
      <span className="jp-OpenHands-quiet">
        {said === null ? asked : `${asked}, ${said}`}
      </span>
    </li>
  );
}
