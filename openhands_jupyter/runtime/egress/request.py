"""What a program asks of the proxy: HTTP CONNECT, or a request with an absolute URL (RFC 9112)."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from ...events import NetworkRefusal
from ...hosts import is_address, is_name, normal_host

Reason = Literal["listed", "malformed"] | NetworkRefusal

_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):([^\r\n\0]*)")
_LINE = re.compile(r"([A-Z]{1,20}) ([!-~]+) HTTP/1\.[01]")
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:/?#@\[\]]+):(\d{1,5})")
_ADDRESS = re.compile(r"[0-9a-fx.:]{1,64}")
_DROPPED = {
    "connection",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "upgrade",
}


class Refused(Exception):
    """A request that is not carried out.

    Parameters
    ----------
    status
        The HTTP status to answer with.
    sentence
        Why, for the person or the model that reads the output of the program.
    reason
        The same for programs.
    """

    def __init__(self, status: int, sentence: str, reason: Reason = "malformed") -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.reason = reason


class Request(NamedTuple):
    """A request that is understood.

    Attributes
    ----------
    host, port
        Where it wants to go; the host is normal, and a name or an IP address.
    tunnel
        Whether it is a CONNECT, so that the program itself speaks to that place.
    head
        Otherwise what to send there first.
    """

    host: str
    port: int
    tunnel: bool
    head: bytes

    @property
    def place(self) -> str:
        """Host and port, as people write them."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse(data: bytes) -> Request:
    """Understand the head of a request, up to and with the empty line.

    Raises
    ------
    Refused
        When it is none, or not for a proxy.
    """
    line, *headers = data.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    matched = _LINE.fullmatch(line)
    if matched is None:
        raise Refused(400, "The proxy of the sandbox understands HTTP/1.1 only.")
    method, target = matched.groups()
    if method == "CONNECT":
        return Request(*_place(target), True, b"")
    if not target.lower().startswith("http://"):
        raise Refused(
            400, "This is the proxy of the sandbox; it takes CONNECT and URLs with http:// only."
        )
    try:
        url = urlsplit(target)
        authority = url.netloc if url.port is not None else f"{url.netloc.rstrip(':')}:80"
    except ValueError:
        raise Refused(400, "The URL of the request is not valid.") from None
    host, port = _place(authority)
    path = f"{url.path or '/'}?{url.query}" if url.query else url.path or "/"
    return Request(host, port, False, _head(f"{method} {path} HTTP/1.1", url.netloc, headers))


def _place(authority: str) -> tuple[str, int]:
    matched = _AUTHORITY.fullmatch(authority)
    if matched is None:
        raise Refused(400, "The proxy of the sandbox needs a host and a port.")
    host, port = normal_host(matched.group(1).strip("[]")), int(matched.group(2))
    known = is_name(host) or (is_address(host) and _ADDRESS.fullmatch(host))
    if not known or not 0 < port < 65536:
        raise Refused(400, "The host or the port of the request is not valid.")
    return host, port


def _head(line: str, host: str, headers: list[str]) -> bytes:
    """The head for the server: one request on its connection, and to this host only."""
    lines = [line, f"Host: {host}", "Connection: close"]
    for header in headers:
        matched = _HEADER.fullmatch(header)
        if matched is None:
            raise Refused(400, "A header of the request is not valid.")
        if matched.group(1).lower() not in _DROPPED:
            lines.append(header)
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
