"""Which MCP servers there are, in all the ways in which people write that down."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

Transport = Literal["stdio", "sse", "http"]
ConfigOrigin = Literal["person", "administrator", "workspace"]
Trust = bool | Literal["reads"] | list[str]
"""Whose calls run unasked: none, all, those that say they only read, or those of these tools."""

Seconds = Annotated[float, Meta(ge=1, le=86_400)]
Text = Annotated[str, Meta(max_length=10_000)]


class ServerConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A server, however it was written down; ``${NAME}`` in its texts is not yet replaced.

    Attributes
    ----------
    name
        What the person calls it.
    transport
        How it is talked to.
    command, args, env, cwd
        What is started, for ``stdio``; a relative ``cwd`` is below the session's workspace,
        without one it is the person's home.
    url, headers
        Where it is, for the others.
    start_timeout, timeout
        Seconds that its start, and each call, may take.
    trust
        Which of its tools are called without asking.
    enabled
        Whether it is used.
    origin, file
        Whose it is, and the file that it is written in; no file for the administrator's.
    """

    name: str
    transport: Transport
    command: str = ""
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str = ""
    url: str = ""
    headers: dict[str, str] = {}
    start_timeout: float = 60.0
    timeout: float = 120.0
    trust: Trust = False
    enabled: bool = True
    origin: ConfigOrigin = "person"
    file: str = ""

    def __repr__(self) -> str:
        """Tell nothing that may hold a secret."""
        return f"ServerConfig({self.name!r}, {self.transport})"

    @property
    def where(self) -> str:
        """What is started, or where it is, without what may be secret."""
        if self.transport == "stdio":
            return " ".join([self.command, *self.args])
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    @property
    def definition(self) -> dict[str, Any]:
        """All that decides over what is started or reached, and over its tools, as written."""
        names = ("transport", "command", "args", "env", "cwd", "url", "headers")
        return {name: getattr(self, name) for name in names}

    @property
    def digest(self) -> str:
        """The definition as a hash: what is kept of a server holds while that is the same."""
        encoded = msgspec.json.encode(self.definition, order="deterministic")
        return hashlib.sha256(encoded).hexdigest()

    @property
    def variables(self) -> list[str]:
        """The secrets and variables that it is given, by name."""
        text = msgspec.json.encode(self.definition).decode()
        return sorted({match[1] for match in _VARIABLE.finditer(text)})


class McpConfig(msgspec.Struct, frozen=True):
    """The servers, and a sentence for each that could not be taken."""

    servers: list[ServerConfig] = []
    warnings: list[str] = []


class _Auth(msgspec.Struct, forbid_unknown_fields=True):
    type: Literal["none", "bearer", "api_key", "header"] = "none"
    token: Text = ""
    header: Text = "Authorization"


class _Written(msgspec.Struct, forbid_unknown_fields=True):
    """A server as people write it: the keys of OpenHands, and those of ``mcpServers`` files."""

    name: Text = ""
    type: Literal["", "stdio", "sse", "http", "streamable-http", "shttp"] = ""
    transport: Literal["", "stdio", "sse", "http", "streamable-http", "shttp"] = ""
    command: Text = ""
    args: list[Text] | Text = []
    env: dict[str, str | int | float | bool] | list[Text] | Text = {}
    cwd: Text = ""
    url: Text = ""
    headers: dict[str, Text] = {}
    api_key: Text = ""
    auth: _Auth = msgspec.field(default_factory=_Auth)
    timeout: Seconds | None = None
    start_timeout: Seconds | None = None
    trust: Trust = False
    enabled: bool = True
    disabled: bool = False


LISTS: dict[str, Transport] = {
    "stdio_servers": "stdio",
    "sse_servers": "sse",
    "shttp_servers": "http",
}
"""OpenHands' own lists in ``[mcp]``."""

_TRANSPORTS: dict[str, Transport] = {
    "stdio": "stdio",
    "sse": "sse",
    "http": "http",
    "streamable-http": "http",
    "shttp": "http",
}


def read_servers(
    content: Mapping[str, Any],
    where: str,
    line_of: Callable[..., int | None] = lambda *path: None,
) -> McpConfig:
    """The servers of a section ``[mcp]``, or of a file with ``mcpServers``.

    Parameters
    ----------
    content
        ``stdio_servers``, ``sse_servers`` and ``shttp_servers`` as OpenHands has them, and
        ``servers`` or ``mcpServers``: servers by name.
    where
        Names the place in warnings.
    line_of
        Gives the line of a key, or of a server by its key and its name or number, where known.

    Returns
    -------
    McpConfig
        What is wrong is left out, with a warning.
    """
    servers: dict[str, ServerConfig] = {}
    warnings: list[str] = []

    def place(*path: str | int) -> str:
        line = line_of(*path)
        return where if line is None else f"{where}, line {line}"

    for key, of, given, default in _entries(content, warnings, place):
        at = place(key, of)
        entry = f"{key}[{of}]" if isinstance(of, int) else f"{key}.{of}"
        try:
            server = _server(of if isinstance(of, str) else "", given, default)
        except ValueError as error:
            warnings.append(f"{at}: {entry} is left out: {error}.")
            continue
        if server.name in servers:
            warnings.append(f"{at}: {entry} is left out: {server.name} is there already.")
        else:
            servers[server.name] = server
    return McpConfig(list(servers.values()), warnings)


def merged(*configs: McpConfig) -> McpConfig:
    """Several places as one; of servers of the same name the last one counts."""
    servers = {server.name: server for config in configs for server in config.servers}
    return McpConfig(list(servers.values()), [line for one in configs for line in one.warnings])


def _entries(
    content: Mapping[str, Any], warnings: list[str], place: Callable[[str], str]
) -> Iterator[tuple[str, str | int, Any, Transport | None]]:
    """Each server: its key, its name or number there, what is written of it, how it is reached."""
    for key, value in content.items():
        if key in LISTS and isinstance(value, list):
            for index, given in enumerate(value):
                yield key, index, given, LISTS[key]
        elif key in ("servers", "mcpServers") and isinstance(value, Mapping):
            for name, given in value.items():
                yield key, name, given, None
        elif key in LISTS or key in ("servers", "mcpServers"):
            expected = "a list" if key in LISTS else "servers by name"
            warnings.append(f"{place(key)}: {key} is left out: Expected {expected}.")
        else:
            warnings.append(f"{place(key)}: {key} is left out: there is no such setting here.")


def _server(name: str, given: Any, default: Transport | None) -> ServerConfig:
    """One server from what is written of it.

    Raises
    ------
    ValueError
        Saying what does not fit.
    """
    if isinstance(given, str) and default in ("sse", "http"):
        given = {"url": given}
    written = msgspec.convert(given, _Written)
    kind = written.transport or written.type
    transport = default or (_TRANSPORTS[kind] if kind else _guess(written))
    _require_address(written, transport)
    timeouts: dict[str, Any] = {"timeout": written.timeout, "start_timeout": written.start_timeout}
    return ServerConfig(
        name=(name or written.name or _name_of(written)).strip(),
        transport=transport,
        command=written.command,
        args=written.args.split() if isinstance(written.args, str) else written.args,
        env=_environment(written.env),
        cwd=written.cwd,
        url=written.url,
        headers=_headers(written),
        trust=written.trust,
        enabled=written.enabled and not written.disabled,
        **{key: value for key, value in timeouts.items() if value is not None},
    )


def _guess(written: _Written) -> Transport:
    if written.command:
        return "stdio"
    return "sse" if urlsplit(written.url).path.rstrip("/").endswith("/sse") else "http"


def _require_address(written: _Written, transport: Transport) -> None:
    if transport == "stdio" and not written.command.strip():
        raise ValueError("it has no command")
    if transport != "stdio" and not re.match(r"https?://[^\s/]", written.url):
        raise ValueError("it has no url that begins with http:// or https://")
    if "\0" in written.command + written.cwd:
        raise ValueError("its command holds a null character")


def _environment(env: Mapping[str, Any] | list[str] | str) -> dict[str, str]:
    """Variables, which OpenHands also takes as a list of ``NAME=value``, or with commas."""
    if isinstance(env, Mapping):
        pairs = [
            (key, str(value).lower() if isinstance(value, bool) else str(value))
            for key, value in env.items()
        ]
    else:
        lines = [line.strip() for line in (env.split(",") if isinstance(env, str) else env)]
        pairs = [(key, value) for key, _, value in (line.partition("=") for line in lines if line)]
    for key, _ in pairs:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key):
            raise ValueError(f"{key!r} is no name of a variable")
    return dict(pairs)


def _headers(written: _Written) -> dict[str, str]:
    headers = dict(written.headers)
    if written.api_key:
        headers.setdefault("Authorization", f"Bearer {written.api_key}")
    auth = written.auth
    if auth.type == "bearer":
        headers["Authorization"] = f"Bearer {auth.token}"
    elif auth.type != "none":
        headers[auth.header] = auth.token
    return headers


def _name_of(written: _Written) -> str:
    return urlsplit(written.url).hostname or written.command.rpartition("/")[2]


_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH|COOKIE", re.IGNORECASE)


class Expanded(msgspec.Struct, frozen=True):
    """A server whose texts are complete.

    Attributes
    ----------
    config
        The server.
    hidden
        Values in it that must not be shown.
    """

    config: ServerConfig
    hidden: frozenset[str]


def expand(config: ServerConfig, lookup: Callable[[str], str | None]) -> Expanded:
    """Put the person's values in the place of ``${NAME}`` and ``${NAME:-default}``.

    Parameters
    ----------
    config
        The server.
    lookup
        Gives a secret, or a variable of the environment; None where there is none.

    Raises
    ------
    ValueError
        Naming what there is no value of.
    """
    hidden: set[str] = set()

    def replaced(text: str, secret: bool = False) -> str:
        def value(match: re.Match[str]) -> str:
            name, default = match[1], match[2]
            found = lookup(name)
            if not found and default is None:
                raise ValueError(f"There is no secret and no variable {name}, which it needs.")
            if found and (secret or _SECRET.search(name)):
                hidden.add(found)
            return found or default or ""

        return _VARIABLE.sub(value, text)

    headers = {key: replaced(value, secret=True) for key, value in config.headers.items()}
    env = {key: replaced(value, bool(_SECRET.search(key))) for key, value in config.env.items()}
    hidden |= set(headers.values()) | {v for k, v in env.items() if _SECRET.search(k)}
    complete = msgspec.structs.replace(
        config,
        command=replaced(config.command),
        args=[replaced(arg) for arg in config.args],
        env=env,
        cwd=replaced(config.cwd),
        url=replaced(config.url),
        headers=headers,
    )
    return Expanded(complete, frozenset(hidden - {""}))
