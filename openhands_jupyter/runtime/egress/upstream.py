"""The proxy that the server itself has to use, from the usual environment variables.

It, and not the server, then finds the address of a host, so which addresses are reached is its
business. It is asked for a tunnel (CONNECT) also for plain HTTP, which it has to allow for port 80.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies_environment
from urllib.request import proxy_bypass_environment as bypasses  # type: ignore[attr-defined]

from .request import Refused, Request
from .streams import Stream


class Upstream:
    """Chooses a proxy for each place, and opens tunnels through it.

    Parameters
    ----------
    proxies
        As `urllib.request.getproxies_environment` gives them, which is the default.
    """

    def __init__(self, proxies: Mapping[str, str] | None = None) -> None:
        self._proxies = dict(getproxies_environment() if proxies is None else proxies)

    def applies_to(self, request: Request) -> bool:
        """Whether this place is reached through a proxy."""
        if not self._url(request):
            return False
        return not bypasses(request.place, self._proxies)

    async def connect(self, request: Request, limit: int) -> Stream:
        """Open a tunnel; ``limit`` is that of the reader.

        Raises
        ------
        Refused
            When the proxy cannot be used, or does not want to.
        """
        url = urlsplit(self._url(request))
        if url.scheme != "http" or not url.hostname:
            kind = f"{url.scheme}://" if url.hostname else "its URL"
            raise Refused(
                502,
                f"The server has to use a proxy of a kind that is not supported ({kind}).",
                "unreachable",
            )
        try:
            reader, writer = await asyncio.open_connection(
                url.hostname, url.port or 80, limit=limit
            )
        except OSError as error:
            message = "The proxy that the server has to use cannot be reached."
            raise Refused(502, message, "unreachable") from error
        try:
            await _ask(reader, writer, request, url)
        except BaseException:
            writer.transport.abort()
            raise
        return reader, writer

    def _url(self, request: Request) -> str:
        scheme = "https" if request.tunnel else "http"
        url = self._proxies.get(scheme) or self._proxies.get("all") or ""
        return url if not url or "://" in url else f"http://{url}"


async def _ask(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: Request, url: SplitResult
) -> None:
    lines = [f"CONNECT {request.place} HTTP/1.1", f"Host: {request.place}"]
    if url.username:
        pair = f"{unquote(url.username)}:{unquote(url.password or '')}"
        lines.append(f"Proxy-Authorization: Basic {base64.b64encode(pair.encode()).decode()}")
    writer.write("\r\n".join([*lines, "", ""]).encode())
    try:
        answer = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError) as error:
        message = "The proxy that the server has to use gave no valid answer."
        raise Refused(502, message, "unreachable") from error
    status = answer.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 2)[1:2]
    if not status or not status[0].startswith("2"):
        raise Refused(
            502,
            f"The proxy that the server has to use did not connect to {request.place} "
            f"(status {''.join(status)[:3]}).",
            "unreachable",
        )
