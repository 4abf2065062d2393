"""The Jupyter server on this machine, found and spoken to by somebody who may read its files.

A server writes its address and its token where only its own user can read them. They are used for
requests to this very machine, and kept nowhere that a person or a notebook could see them.
"""

from __future__ import annotations

import http.client
import json
import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .errors import OpenHandsError

TIMEOUT = 60.0
"""Seconds for one answer."""

_HERE = {"127.0.0.1": "127.0.0.1", "localhost": "localhost", "::1": "[::1]"}
_EVERYWHERE = {"", "*", "0.0.0.0", "::"}

NO_SERVER = "There is no Jupyter server with OpenHands that this kernel could reach"
HOW_TO_START = (
    "Start `jupyter lab` in this folder or above it, on this machine and as the same user; "
    "or use `jupyter openhands run`, which needs no server."
)


class ServerNotFound(OpenHandsError):
    """There is no server that would do."""

    def __init__(self, message: str) -> None:
        super().__init__("server_not_found", message, HOW_TO_START)


class Refused(OpenHandsError):
    """The server did not do what it was asked for.

    Attributes
    ----------
    status
        The HTTP status; 0 when there was no answer.
    """

    def __init__(self, status: int, code: str, message: str, hint: str = "") -> None:
        super().__init__(code, message, hint)
        self.status = status


class _Stay(urllib.request.HTTPRedirectHandler):
    """No redirect is followed: the token is for this address."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


# No proxy either, whatever the environment says.
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _Stay)


class LocalServer:
    """The API of OpenHands in a Jupyter server on this machine.

    Parameters
    ----------
    url
        Address of the server, with its base URL.
    token
        What it lets its user in with.
    """

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self._authorise = _Authorisation(token)

    def request(self, method: str, route: str, body: Any = None, **query: Any) -> Any:
        """What the API answers, decoded; None for an empty answer.

        Raises
        ------
        Refused
            With what the server says.
        """
        values = {name: value for name, value in query.items() if value is not None}
        text = urllib.parse.urlencode(values, doseq=True)
        url = f"{self.url}openhands/api/{route}{'?' if text else ''}{text}"
        try:
            return self._send(method, url, body)
        except urllib.error.HTTPError as error:
            with error:
                raise _refusal(error.code, error.read()) from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise Refused(
                0,
                "unreachable",
                f"The Jupyter server at {self.url} does not answer: {reason}.",
                "See whether it still runs.",
            ) from None
        except KeyboardInterrupt:
            # A new one: the traceback of the old shows the headers where it is set to be verbose.
            raise KeyboardInterrupt from None

    def _send(self, method: str, url: str, body: Any) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = self._authorise(urllib.request.Request(url, data, method=method))
        with _opener.open(request, timeout=TIMEOUT) as answer:
            content = answer.read()
        return json.loads(content) if content else None


class _Authorisation:
    """Adds the token to requests, and is never written out with it."""

    def __init__(self, token: str) -> None:
        def authorise(request: urllib.request.Request) -> urllib.request.Request:
            request.add_unredirected_header("Authorization", f"token {token}")
            return request

        self._function = authorise

    def __call__(self, request: urllib.request.Request) -> urllib.request.Request:
        return self._function(request)


def find_server(folder: Path) -> LocalServer:
    """The server to go to from a folder.

    It is the one that started this kernel, else the one whose root is nearest above the folder.

    Raises
    ------
    ServerNotFound
        When there is none with OpenHands, or none that lets this user in.
    """
    from jupyter_server.serverapp import list_running_servers

    refused = ""
    for info in _candidates(list_running_servers(), folder.resolve()):
        server = LocalServer(_local_url(info), info.get("token") or "")
        try:
            server.request("GET", "models")
        except Refused as error:
            if error.status in (401, 403):
                refused = (
                    f"The Jupyter server at {server.url} lets nobody in with a token of its own, "
                    "as behind JupyterHub or with a password. Run the cell in the browser there."
                )
            continue
        return server
    raise ServerNotFound(refused or f"{NO_SERVER} from {folder}.")


def _candidates(infos: Iterable[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """The servers on this machine that serve the folder or started this kernel, the best first."""
    parent = os.environ.get("JPY_PARENT_PID", "")

    def started_this(info: dict[str, Any]) -> bool:
        return str(info.get("pid")) == parent

    def depth(info: dict[str, Any]) -> int:
        return len(Path(info.get("root_dir") or "/").resolve().parts)

    found = [
        info
        for info in infos
        if _local_url(info)
        and (started_this(info) or folder.is_relative_to(Path(info["root_dir"]).resolve()))
    ]
    return sorted(found, key=lambda info: (started_this(info), depth(info)), reverse=True)


def _local_url(info: dict[str, Any]) -> str:
    """The address of a server on this machine; empty where it has none on the loopback."""
    host = str(info.get("hostname", ""))
    host = "127.0.0.1" if host in _EVERYWHERE else _HERE.get(host, "")
    if not host or info.get("sock") or not info.get("port"):
        return ""
    scheme = "https" if info.get("secure") else "http"
    base = str(info.get("base_url", "/")).strip("/")
    return f"{scheme}://{host}:{info['port']}/{base}{'/' if base else ''}"


def _refusal(status: int, content: bytes) -> Refused:
    try:
        answer = json.loads(content)
    except ValueError:
        answer = {}
    if not isinstance(answer, dict) or "code" not in answer:
        return Refused(status, "refused", f"The server answers with HTTP status {status}.")
    return Refused(status, answer["code"], answer.get("message", ""), answer.get("hint", ""))
