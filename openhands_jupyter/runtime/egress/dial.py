"""Connections to the places that may be reached, and to no place behind their names."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from .request import Refused, Request
from .streams import Stream
from .upstream import Upstream

Resolve = Callable[[str], Awaitable[list[str]]]
"""Gives the IP addresses of a name, or raises OSError."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

ADDRESS_TIMEOUT = 5.0
"""Seconds for each of several addresses."""

_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")


class Dialer:
    """Opens connections.

    Parameters
    ----------
    trusted
        Networks that may be reached although they are not of the public internet, as CIDR.
    resolve
        Finds addresses; the system's resolver by default.
    upstream
        The proxy to go through.
    limit
        Of the readers, in bytes.
    """

    def __init__(
        self, trusted: Iterable[str], resolve: Resolve | None, upstream: Upstream, limit: int
    ) -> None:
        self._trusted: list[Network] = [ipaddress.ip_network(network) for network in trusted]
        self._resolve = resolve or self._ask_system
        self._upstream = upstream
        self._limit = limit
        # Of its own, because a slow name server would hold up the rest of the program.
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="openhands-resolve")

    async def connect(self, request: Request) -> Stream:
        """Connect to the place of a request, whose host is a name.

        The name is resolved once, and the addresses found are judged and used, so that no second
        answer of a name server can lead elsewhere.

        Raises
        ------
        Refused
            When the name leads to no address, to none that is public, or to none that answers.
        """
        if self._upstream.applies_to(request):
            return await self._upstream.connect(request, self._limit)
        try:
            found = [ipaddress.ip_address(text) for text in await self._resolve(request.host)]
        except (OSError, UnicodeError) as error:
            message = f"The address of {request.host} was not found."
            raise Refused(502, message, "unresolved") from error
        permitted = [address for address in found if self._permits(address)]
        if not permitted:
            raise Refused(
                403,
                f"{request.host} has an address of a local network, which a sandbox does not "
                "reach unless an administrator trusts that network.",
                "local_address",
            )
        for address in permitted:
            try:
                async with asyncio.timeout(ADDRESS_TIMEOUT):
                    return await asyncio.open_connection(
                        str(address), request.port, limit=self._limit
                    )
            except (OSError, TimeoutError):
                continue
        raise Refused(502, f"{request.place} does not answer.", "unreachable")

    def close(self) -> None:
        """Give up what is being looked up."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _permits(self, address: Address) -> bool:
        meant = embedded(address)
        if any(meant in network for network in self._trusted):
            return True
        return meant.is_global and not meant.is_multicast and not is_own(meant)

    async def _ask_system(self, host: str) -> list[str]:
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(
            self._threads, lambda: socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        )
        return [str(address[0]) for *_, address in found]


def embedded(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for, or the address itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _TRANSLATED:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def is_own(address: Address) -> bool:
    """Whether it is an address of this machine, where the Jupyter server may listen too."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((str(address), 0))
        except OSError:
            return False
    return True
