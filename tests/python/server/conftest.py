"""A real Jupyter server with the extension, and clients for its REST API and its WebSocket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from api_client import Answer, Stream, answer_of
from kernel_client import KernelClient
from shared_gateway import SharedGateway
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import websocket_connect
from waiting import PATIENCE

from openhands_jupyter.server.base import Services
from openhands_jupyter.session import Session

API = "openhands/api"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test's own home folder of OpenHands."""
    folder = tmp_path / "openhands-home"
    monkeypatch.setenv("OPENHANDS_HOME", str(folder))
    return folder


@pytest.fixture
def shared_models(shared_gateway: SharedGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the server ask models through the gateway of all tests, which is loaded already."""
    monkeypatch.setattr("openhands_jupyter.session.manager.ModelGateway", shared_gateway.lend)


@pytest.fixture
def jp_server_config(home: Path) -> dict[str, Any]:
    """The extension alone, with no sandbox that is not asked for.

    A login cookie that holds for every spelling of this machine.
    """
    return {
        "ServerApp": {
            "jpserver_extensions": {"openhands_jupyter": True, "jupyter_server_terminals": False},
            "allow_unauthenticated_access": False,
        },
        "IdentityProvider": {"cookie_name": "oh"},
        "OpenHandsExtension": {"prewarm": 0},
    }


Api = Callable[..., Awaitable[Answer]]


@pytest.fixture
def address(jp_base_url: str, jp_http_port: int) -> str:
    """Address of the API, without the scheme."""
    return f"localhost:{jp_http_port}{jp_base_url}{API}"


@pytest.fixture
def api(http_server: Any, address: str, jp_auth_header: dict[str, str]) -> Api:
    """Sends a request with the token: ``await api("POST", "sessions", {...})``."""

    async def send(
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: dict[str, str] | None = None,
        **query: Any,
    ) -> Answer:
        content = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        request = HTTPRequest(
            f"http://{address}/{path}?{urlencode(query, doseq=True)}",
            method,
            headers=jp_auth_header if headers is None else headers,
            body=content,
            allow_nonstandard_methods=True,
            follow_redirects=False,
            request_timeout=PATIENCE,
        )
        return answer_of(await AsyncHTTPClient().fetch(request, raise_error=False))

    return send


@pytest.fixture
def services(jp_serverapp: Any) -> Services:
    """What the server's handlers work with."""
    found: Services = jp_serverapp.web_app.settings["openhands"]
    return found


@pytest.fixture
def session(services: Services, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Session:
    """A session that nobody has said anything in yet."""

    async def create() -> Session:
        return await services.sessions.create(title="A session")

    return jp_asyncio_loop.run_until_complete(create())


Connect = Callable[..., Awaitable[Stream]]


@pytest.fixture
def connect(http_server: Any, address: str, jp_auth_header: dict[str, str]) -> Iterator[Connect]:
    """Opens the socket of a session: ``await connect(id, after=3)``."""
    opened: list[Stream] = []

    async def open_stream(
        session_id: str, headers: dict[str, str] | None = None, **query: Any
    ) -> Stream:
        request = HTTPRequest(
            f"ws://{address}/sessions/{session_id}/stream?{urlencode(query)}",
            headers=jp_auth_header if headers is None else headers,
        )
        stream = Stream(await websocket_connect(request))
        opened.append(stream)
        return stream

    yield open_stream
    for stream in opened:
        stream.connection.close()


@pytest.fixture
def console(jp_ws_fetch: Any) -> Iterator[Callable[[str], Awaitable[KernelClient]]]:
    """Connects to a kernel, as a console does."""
    opened = []

    async def connect(id: str) -> KernelClient:
        opened.append(await jp_ws_fetch("api", "kernels", id, "channels"))
        return KernelClient(opened[-1])

    yield connect
    for connection in opened:
        connection.close()
