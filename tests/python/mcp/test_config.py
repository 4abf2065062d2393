"""The shapes in which people write servers down, and what goes in the place of ``${NAME}``."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import msgspec
import pytest

from openhands_jupyter.config import Config
from openhands_jupyter.mcp.config import ServerConfig, expand, merged, read_servers

OPENHANDS = """
sse_servers = ["http://a.example/sse", {url = "https://b.example/x", api_key = "${B_KEY}"}]
shttp_servers = [{url = "https://c.example/mcp", timeout = 90}]
stdio_servers = [
  {name = "fetch", command = "uvx", args = ["mcp-server-fetch"], env = ["MODE=quiet", "N=1"]},
]
"""
BY_NAME = """
[servers.my-db]
command = "npx"
args = ["-y", "db"]
env = {DB_PASSWORD = "${DB_PASSWORD}", PORT = 5432, TLS = true}
trust = ["select"]
[servers.docs]
url = "https://docs.example/mcp"
auth = {type = "bearer", token = "${DOCS}"}
start_timeout = 5
"""
MCP_SERVERS = {
    "mcpServers": {
        "files": {"command": "npx", "args": ["fs"], "disabled": True},
        "remote": {"type": "sse", "url": "https://r.example/anything", "headers": {"X-A": "1"}},
        "new": {"type": "streamable-http", "url": "https://r.example/sse"},
    }
}


def test_all_shapes_become_the_same_thing() -> None:
    read = merged(
        read_servers(tomllib.loads(OPENHANDS), "one"),
        read_servers(tomllib.loads(BY_NAME), "two"),
        read_servers(MCP_SERVERS, "three"),
    )
    assert read.warnings == []
    servers = {server.name: server for server in read.servers}
    bearer = {"Authorization": "Bearer ${B_KEY}"}
    assert servers["a.example"] == ServerConfig(
        name="a.example", transport="sse", url="http://a.example/sse"
    )
    assert servers["b.example"].headers == bearer
    assert (servers["c.example"].transport, servers["c.example"].timeout) == ("http", 90)
    assert servers["fetch"].env == {"MODE": "quiet", "N": "1"}
    assert servers["my-db"].env == {"DB_PASSWORD": "${DB_PASSWORD}", "PORT": "5432", "TLS": "true"}
    assert servers["my-db"].trust == ["select"]
    assert servers["docs"].transport == "http" and servers["docs"].start_timeout == 5
    assert servers["docs"].headers == {"Authorization": "Bearer ${DOCS}"}
    assert not servers["files"].enabled and servers["remote"].enabled
    assert (servers["remote"].transport, servers["new"].transport) == ("sse", "http")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"stdio_servers": [{"name": "x"}]}, "stdio_servers[0] is left out: it has no command"),
        ({"servers": {"x": {"url": "ftp://x"}}}, "servers.x is left out: it has no url"),
        ({"servers": {"x": {"command": "y", "comand": "z"}}}, "unknown field `comand`"),
        ({"servers": {"x": {"command": "y", "timeout": "soon"}}}, "$.timeout"),
        ({"servers": {"x": {"command": "y", "env": {"A B": "z"}}}}, "'A B' is no name"),
        ({"servers": {"x": 1}}, "servers.x is left out: Expected"),
        ({"servers": []}, "servers is left out: Expected servers by name"),
        ({"sse_servers": "x"}, "sse_servers is left out: Expected a list"),
        ({"proxy": 1}, "proxy is left out: there is no such setting here"),
        ({"stdio_servers": [{"command": "a/b"}, {"command": "b"}]}, "b is there already"),
    ],
)
def test_what_does_not_fit_is_left_out_and_named(content: dict[str, object], said: str) -> None:
    read = read_servers(content, "config.toml: mcp")
    assert len(read.servers) <= 1
    (warning,) = read.warnings
    assert warning.startswith("config.toml: mcp: ") and said in warning


def test_the_person_s_values_are_put_in_and_hidden() -> None:
    given = {
        "command": "${BIN:-serve}",
        "args": ["--root=${HOME}"],
        "env": {"API_KEY": "${K}", "OTHER": "${PLAIN}", "PASSWORD": "literal-one"},
        "headers": {"X": "Bearer ${PLAIN}"},
    }
    (server,) = read_servers({"servers": {"x": given}}, "").servers
    values = {"K": "sk-secret-1", "PLAIN": "plain-value", "HOME": "/home/me"}
    complete = expand(server, values.get)
    assert complete.config.command == "serve" and complete.config.args == ["--root=/home/me"]
    assert complete.config.env["API_KEY"] == "sk-secret-1"
    assert complete.config.headers == {"X": "Bearer plain-value"}
    hidden = {"sk-secret-1", "literal-one", "plain-value", "Bearer plain-value"}
    assert complete.hidden == hidden
    assert "secret" not in repr(complete.config)
    with pytest.raises(ValueError, match="no secret and no variable K"):
        expand(server, {"PLAIN": "x", "HOME": "y"}.get)


def test_what_is_shown_of_an_address_holds_no_secret() -> None:
    url = "https://user:pass@x.example/mcp?key=secret"
    (server,) = read_servers({"servers": {"x": {"url": url}}}, "").servers
    assert server.where == "https://x.example/mcp"


def test_the_person_s_files_and_the_administrator_s_servers_go_together(tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    root.mkdir()
    (home / "config.toml").write_text(
        "[core]\nmax_iterations = 7\n[mcp]\n" + BY_NAME.replace("[servers", "[mcp.servers")
    )
    (home / "mcp.json").write_text(msgspec.json.encode(MCP_SERVERS).decode())
    traits = {"mcp_servers": {"docs": {"url": "https://other.example/mcp"}}}
    environ = {"OPENHANDS_HOME": str(home)}

    config = Config(root, traits, environ=environ)
    assert config.problems == [] and config.settings.step_limit == 7
    found = {server.name: server.url for server in config.mcp(root).servers}
    assert list(found) == ["my-db", "docs", "files", "remote", "new"]
    assert found["docs"] == "https://other.example/mcp"

    (home / "mcp.json").write_text("[]")
    assert "mcp.json is left out: Expected `object`" in config.mcp(root).warnings[0]
    locked = Config(root, traits | {"locked": ["mcp_servers"]}, environ=environ)
    assert [server.name for server in locked.mcp(root).servers] == ["docs"]
    assert locked.problems == []


def test_the_examples_of_the_page_are_understood(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "mcp.md").read_text()
    first, second = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (written,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    (tmp_path / "config.toml").write_text(first + second)
    (tmp_path / "mcp.json").write_text(written)
    config = Config(tmp_path, environ={"OPENHANDS_HOME": str(tmp_path)})
    read = config.mcp(tmp_path)
    assert config.problems == [] and read.warnings == []
    assert {server.name: server.transport for server in read.servers} == {
        "fetch": "stdio",
        "mcp.example.org": "http",
        "localhost": "sse",
        "my-db": "stdio",
        "docs": "http",
        "files": "stdio",
    }
