"""Who may use the API: Jupyter's login, XSRF and origin checks hold for every address."""

from __future__ import annotations

import asyncio
import sys
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import pytest
from jupyter_server.auth import Authorizer
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

from openhands_jupyter.server.routes import ROUTES
from openhands_jupyter.session import Session

VERBS = ("get", "post", "put", "patch", "delete")
PARAMETERS = {"session_id": "0" * 32, "event_id": "0", "sha256": "0", "name": "A"}
NO_TOKEN = {"Accept": "application/json"}


def operations() -> list[tuple[str, str]]:
    return [
        (
            verb.upper(),
            path.lstrip("/").format(session_id="0" * 32, event_id=0, sha256="0", name="A"),
        )
        for path, handler in ROUTES.items()
        for verb in VERBS
        if any(verb in vars(cls) for cls in handler.__mro__ if "openhands" in cls.__module__)
    ]


@pytest.fixture
def cookies(
    http_server: Any,
    jp_serverapp: Any,
    jp_base_url: str,
    jp_http_port: int,
    jp_asyncio_loop: asyncio.AbstractEventLoop,
) -> dict[str, str]:
    """The cookies of somebody who has logged in with a browser."""
    address = f"http://localhost:{jp_http_port}{jp_base_url}"
    return jp_asyncio_loop.run_until_complete(log_in(address, jp_serverapp))


async def log_in(address: str, jp_serverapp: Any) -> dict[str, str]:
    # The login page gives the XSRF cookie, and the token in an address gives the login cookie.
    jar: SimpleCookie = SimpleCookie()
    for page in ("login", f"api/status?token={jp_serverapp.identity_provider.token}"):
        response = await AsyncHTTPClient().fetch(address + page, follow_redirects=False)
        for cookie in response.headers.get_list("Set-Cookie"):
            jar.load(cookie)
    return {name: morsel.value for name, morsel in jar.items()}


def cookie_header(cookies: dict[str, str]) -> str:
    return "; ".join(f"{name}={value}" for name, value in cookies.items())


@pytest.mark.parametrize(("method", "path"), [*operations(), ("GET", "nothing/here")])
async def test_nobody_without_a_token_gets_anything(api: Any, method: str, path: str) -> None:
    answer = await api(method, path, headers=NO_TOKEN)
    assert answer.status == 403
    assert set(answer.body) == {"code", "message", "hint"}
    assert answer.body["code"] == "forbidden"


async def test_no_socket_without_a_token(connect: Any, session: Session) -> None:
    with pytest.raises(HTTPClientError) as caught:
        await connect(session.id, headers=NO_TOKEN)
    assert caught.value.code == 403


async def test_no_tab_without_a_token(address: str, http_server: Any) -> None:
    with pytest.raises(HTTPClientError) as caught:
        await websocket_connect(f"ws://{address}/tabs?tab=tab-1234")
    assert caught.value.code == 403


async def test_another_site_is_no_tab(
    address: str, http_server: Any, cookies: dict[str, str], jp_http_port: int
) -> None:
    headers = {"Cookie": cookie_header(cookies), "Origin": "http://elsewhere.example"}
    socket = f"ws://{address}/tabs?tab=tab-1234"
    with pytest.raises(HTTPClientError) as caught:
        await websocket_connect(HTTPRequest(socket, headers=headers))
    assert caught.value.code == 403
    headers["Origin"] = f"http://localhost:{jp_http_port}"
    (await websocket_connect(HTTPRequest(socket, headers=headers))).close()


async def test_a_cookie_needs_the_xsrf_token_to_change_anything(
    api: Any, cookies: dict[str, str]
) -> None:
    assert set(cookies) >= {"oh", "_xsrf"}
    headers = {"Cookie": cookie_header(cookies)}
    assert (await api("GET", "sessions", headers=headers)).status == 200
    refused = await api("POST", "sessions", {}, headers=headers)
    assert refused.status == 403
    assert "_xsrf" in refused.body["message"]
    assert (await api("GET", "sessions", headers=headers)).body == {"sessions": []}
    headers["X-XSRFToken"] = cookies["_xsrf"]
    assert (await api("POST", "sessions", {}, headers=headers)).status == 201


async def test_another_site_cannot_open_the_socket(
    connect: Any, session: Session, cookies: dict[str, str], jp_http_port: int
) -> None:
    headers = {"Cookie": cookie_header(cookies), "Origin": "http://elsewhere.example"}
    with pytest.raises(HTTPClientError) as caught:
        await connect(session.id, headers=headers)
    assert caught.value.code == 403
    headers["Origin"] = f"http://localhost:{jp_http_port}"
    frame = await (await connect(session.id, headers=headers)).frame()
    assert frame["type"] == "hello"


async def test_another_site_cannot_use_rest(api: Any, cookies: dict[str, str]) -> None:
    headers = {"Cookie": cookie_header(cookies), "Origin": "http://elsewhere.example"}
    assert (await api("GET", "sessions", headers=headers)).status in (403, 404)


async def test_the_authorizer_is_asked_about_every_operation(
    api: Any, jp_serverapp: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []

    async def refuse(self: Authorizer, handler: Any, user: Any, action: str, resource: str) -> bool:
        asked.append((action, resource))
        return False

    monkeypatch.setattr(type(jp_serverapp.authorizer), "is_authorized", refuse)
    for method, path in operations():
        asked.clear()
        assert (await api(method, path)).status == 403
        [(action, resource)] = asked
        assert resource == "openhands"
        # The socket of a tab carries what is to be done there.
        assert (action == "read") == (method == "GET" and path != "tabs")


async def test_who_may_not_execute_chooses_no_code_and_approves_nothing(
    api: Any, session: Session, jp_serverapp: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agent_of_theirs.py").write_text("raise SystemExit('it was loaded')")
    monkeypatch.syspath_prepend(tmp_path)

    async def decide(self: Authorizer, handler: Any, user: Any, action: str, resource: str) -> bool:
        return action != "execute"

    monkeypatch.setattr(type(jp_serverapp.authorizer), "is_authorized", decide)
    for changes in ({"agent": "agent_of_theirs:Agent"}, {"mode": "auto"}):
        for method, path in (
            ("POST", "sessions"),
            ("PATCH", f"sessions/{session.id}"),
            ("PUT", "settings"),
        ):
            assert (await api(method, path, changes)).status == 403, (method, path)
    assert "agent_of_theirs" not in sys.modules
    assert (await api("PUT", "secrets/A", {"value": "b"})).status == 204


async def test_addresses_lie_below_the_base_url_only(
    http_server: Any, jp_serverapp: Any, jp_http_port: int
) -> None:
    token = jp_serverapp.identity_provider.token
    for prefix, status in (("/a%40b/", 200), ("/", 404)):
        request = HTTPRequest(
            f"http://localhost:{jp_http_port}{prefix}openhands/api/health?token={token}"
        )
        assert (await AsyncHTTPClient().fetch(request, raise_error=False)).code == status


async def test_unknown_addresses_and_verbs_are_json(api: Any) -> None:
    assert (await api("GET", "nothing/here")).body["code"] == "route_not_found"
    assert (await api("GET", "")).body["code"] == "route_not_found"
    answer = await api("DELETE", "sessions")
    assert (answer.status, answer.body["code"]) == (405, "method_not_allowed")


async def test_a_fault_of_ours_is_hidden_and_logged(
    api: Any, services: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail() -> None:
        raise RuntimeError("details of the inside")

    monkeypatch.setattr(services.sessions, "list", fail)
    answer = await api("GET", "sessions")
    assert (answer.status, answer.body["code"]) == (500, "internal_error")
    assert b"inside" not in answer.raw.replace(b"inside the server", b"")
    assert "details of the inside" in caplog.text
