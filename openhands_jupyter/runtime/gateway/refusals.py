"""Why a remote server cannot be used, in plain words."""

from __future__ import annotations

import socket
import ssl
from json import loads

from tornado.httpclient import HTTPClientError, HTTPResponse
from tornado.simple_httpclient import HTTPStreamClosedError, HTTPTimeoutError

from ...errors import SandboxUnavailable
from .settings import TOKEN


class GatewayRefused(SandboxUnavailable):
    """The remote server cannot be used.

    Parameters
    ----------
    message, hint
        As in `OpenHandsError`.
    lasting
        Whether trying again will not help.
    """

    def __init__(self, message: str, hint: str = "", lasting: bool = True) -> None:
        super().__init__(message, hint)
        self.lasting = lasting


def no_gateway(host: str, what: str) -> GatewayRefused:
    """Something else answers there."""
    return GatewayRefused(
        f"{host} {what}, so it is no Jupyter server.",
        "Check the address: it is that of the server, with its base path if it has one.",
    )


def explained(host: str, error: Exception) -> GatewayRefused:
    """Say what went wrong, from what tornado raised."""
    match error:
        case HTTPTimeoutError():
            return GatewayRefused(
                f"{host} did not answer in time.",
                "Is it up? Set JUPYTER_GATEWAY_REQUEST_TIMEOUT (seconds) if it is slow.",
                lasting=False,
            )
        case HTTPClientError(code=401 | 403):
            return GatewayRefused(
                f"{host} does not let us in{_reason_in(error.response)}.",
                f"Give it a valid token as the secret {TOKEN}.",
            )
        case HTTPClientError(code=code) if 300 <= code < 400:
            return GatewayRefused(
                f"{host} asks for a login in the browser.",
                f"Give it a valid token as the secret {TOKEN}, and check the address.",
            )
        case HTTPClientError(code=404):
            return no_gateway(host, "knows nothing of it")
        case HTTPStreamClosedError() | ConnectionError():
            return GatewayRefused(
                f"{host} cannot be reached.",
                "Is the server up, and is the address right?",
                lasting=False,
            )
        case HTTPClientError(code=code):
            reason = _reason_in(error.response)
            return GatewayRefused(
                f"{host} answered with an error ({code}{reason}).",
                "Its log says more.",
                lasting=code < 500,
            )
        case ssl.SSLError():
            return GatewayRefused(
                f"The certificate of {host} is not accepted ({error.reason or error}).",
                "Set JUPYTER_GATEWAY_CA_CERTS to a file with the certificate of whoever signed it.",
            )
        case socket.gaierror():
            return GatewayRefused(
                f"There is no host named {host}.", "Check the address.", lasting=False
            )
        case OSError():
            return GatewayRefused(
                f"{host} cannot be reached ({error.strerror or error}).",
                "Is the server up, and is the address right?",
                lasting=False,
            )
        case ValueError():
            return no_gateway(host, "answered with something else than JSON")
    return GatewayRefused(f"{host} cannot be used ({type(error).__name__}).")


def _reason_in(response: HTTPResponse | None) -> str:
    """What the server says, shortened; it is somebody else's text."""
    try:
        said = loads(response.body) if response else {}
        line = " ".join(str(said.get("reason") or said.get("message") or "").split())
    except (ValueError, AttributeError):
        return ""
    return f": {line[:200].rstrip('.')}" if line else ""
