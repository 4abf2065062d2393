"""A remote Jupyter server, as jupyter_server's own gateway client is configured to reach it."""

from __future__ import annotations

import os
from collections.abc import Callable
from json import dumps, loads
from typing import Any
from urllib.parse import quote, urlsplit

from jupyter_server.gateway.gateway_client import GatewayClient
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest, HTTPResponse
from tornado.websocket import WebSocketClientConnection, websocket_connect
from traitlets import TraitError

from ..cells import LONGEST_MESSAGE
from .refusals import GatewayRefused, explained, no_gateway
from .settings import GatewaySettings

PING_INTERVAL = 10.0
HURRY = 5.0
"""Seconds for a request that somebody waits for in the middle of something."""

LISTING = 15.0
"""Seconds for the list of kernelspecs, by which it is seen whether the server can be used."""

_SET_UP = (
    "Set gateway_url in the section [sandbox] of config.toml, or start Jupyter with "
    "--gateway-url, and begin a new session."
)


class Gateway:
    """The kernels of a remote server.

    Parameters
    ----------
    settings
        Which server.

    Attributes
    ----------
    host
        The server's name and port, for people: an address may hold a password.
    address
        Its address without the password.

    Raises
    ------
    GatewayRefused
        When no address is known, or two.
    """

    def __init__(self, settings: GatewaySettings) -> None:
        self._client = _configured(settings)
        self._url = (self._client.url or "").rstrip("/")
        address = urlsplit(self._url)
        self.host = address.hostname or "?"
        if address.port:
            self.host += f":{address.port}"
        self.address = address._replace(netloc=self.host, query="", fragment="").geturl()
        self._http: AsyncHTTPClient = AsyncHTTPClient(force_instance=True)

    async def kernelspec(self, name: str | None) -> str:
        """The name of the kernelspec to use, which is known to the server and Python's.

        Raises
        ------
        GatewayRefused
            When it is not there, or the server cannot be used.
        """
        answer = await self._ask("GET", self._client.kernelspecs_endpoint, within=LISTING)
        try:
            known = {key: spec["spec"] for key, spec in answer["kernelspecs"].items()}
            chosen = name or str(answer["default"])
        except (KeyError, TypeError, AttributeError) as error:
            raise no_gateway(self.host, "has no list of kernels") from error
        if chosen not in known:
            raise GatewayRefused(
                f"{self.host} has no kernel named {chosen}.",
                f"It has: {', '.join(sorted(known)) or 'none'}. Set gateway_kernel in the section "
                "[sandbox] of config.toml to one of them.",
            )
        if str(known[chosen].get("language")).lower() != "python":
            raise GatewayRefused(
                f"The kernel {chosen} of {self.host} is not Python's.",
                "Set gateway_kernel in the section [sandbox] of config.toml to a Python kernel.",
            )
        return chosen

    async def start_kernel(self, kernelspec: str) -> str:
        """Start a kernel; its id.

        Raises
        ------
        GatewayRefused
            When it does not start.
        """
        body = {"name": kernelspec, "env": self._environment()}
        answer = await self._ask("POST", self._client.kernels_endpoint, body)
        if not isinstance(answer, dict) or not isinstance(answer.get("id"), str):
            raise no_gateway(self.host, "started no kernel")
        return str(answer["id"])

    async def has(self, kernel: str) -> bool:
        """Whether a kernel is still there."""
        try:
            await self._ask("GET", self._path(kernel), within=HURRY)
        except GatewayRefused as error:
            if _is_missing(error):
                return False
            raise
        return True

    async def delete(self, kernel: str) -> None:
        """End a kernel, if it is still there."""
        try:
            await self._ask("DELETE", self._path(kernel))
        except GatewayRefused as error:
            if not _is_missing(error):
                raise

    async def connect(
        self, kernel: str, session: str, again: bool = False
    ) -> WebSocketClientConnection:
        """Open the channels of a kernel.

        Parameters
        ----------
        kernel
            Its id.
        session
            The same each time, so that the server hands over what came meanwhile.
        again
            Whether they were open before: a kernel that has yet to start may take longer.

        Raises
        ------
        GatewayRefused
            When they cannot be opened.
        """
        path = f"{self._path(kernel, '/channels')}?session_id={quote(session)}"
        request = HTTPRequest(
            self._websocket_url() + path, **self._arguments(HURRY if again else None)
        )
        try:
            channels = await websocket_connect(
                request, ping_interval=PING_INTERVAL, max_message_size=2 * LONGEST_MESSAGE
            )
        except Exception as error:
            raise explained(self.host, error) from error
        if channels.protocol is not None:
            # Else each small message waits for the one before it to be acknowledged.
            channels.protocol.set_nodelay(True)
        return channels

    def close(self) -> None:
        """Let go of connections."""
        self._http.close()

    async def _ask(
        self, method: str, path: str, body: Any = None, within: float | None = None
    ) -> Any:
        try:
            response: HTTPResponse = await self._http.fetch(
                self._url + path,
                method=method,
                body=None if body is None else dumps(body),
                follow_redirects=False,
                **self._arguments(within, {"Content-Type": "application/json"}),
            )
            return loads(response.body) if response.body else None
        except Exception as error:
            raise explained(self.host, error) from error

    def _arguments(
        self, within: float | None = None, headers: dict[str, str] | None = None
    ) -> dict[str, Any]:
        load: Callable[..., dict[str, Any]] = self._client.load_connection_args
        arguments = load(headers=headers or {})
        if self._client.ca_certs:
            # Which the gateway client uses beside a client's certificate only.
            arguments["ca_certs"] = self._client.ca_certs
        if within is not None:
            arguments["request_timeout"] = within
            arguments["connect_timeout"] = min(within, arguments["connect_timeout"])
        return arguments

    def _environment(self) -> dict[str, str]:
        """What a gateway is told of the environment; see "GatewayClient.allowed_envs"."""
        allowed = self._client.allowed_envs.split(",")
        return {k: v for k, v in os.environ.items() if k.startswith("KERNEL_") or k in allowed}

    def _path(self, kernel: str, rest: str = "") -> str:
        return f"{self._client.kernels_endpoint}/{quote(kernel, safe='')}{rest}"

    def _websocket_url(self) -> str:
        derived = "ws" + self._url.removeprefix("http")
        given = (self._client.ws_url or "").rstrip("/")
        # The gateway client's own default spells it in small letters.
        return derived if given in ("", derived.lower()) else given


def _is_missing(error: GatewayRefused) -> bool:
    cause = error.__cause__
    return isinstance(cause, HTTPClientError) and cause.code == 404


def _configured(settings: GatewaySettings) -> GatewayClient:
    """A gateway client like the server's own, but for the address and the token."""
    server = GatewayClient.instance() if GatewayClient.initialized() else None
    try:
        make: Callable[..., GatewayClient] = GatewayClient
        client = make(config=server.config) if server else make()
        if settings.url and client.url and settings.url.rstrip("/") != client.url.rstrip("/"):
            raise GatewayRefused(
                "Two gateways are configured: one for all of Jupyter, and another as gateway_url.",
                "Leave gateway_url out, or begin Jupyter without a gateway of its own.",
            )
        if settings.url:
            client.url = settings.url
        if settings.token:
            client.auth_token = settings.token
    except TraitError as error:
        raise GatewayRefused(f"The gateway's settings cannot be used: {error}.", _SET_UP) from error
    if not client.url:
        raise GatewayRefused("No gateway is configured.", _SET_UP)
    return client
