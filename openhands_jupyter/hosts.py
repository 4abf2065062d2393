"""Names of hosts, and rules for which of them a sandbox may reach."""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import urlsplit

import msgspec

HTTP = 80
HTTPS = 443

Preset = Literal["python", "npm", "conda", "github"]

PRESETS: dict[Preset, tuple[str, ...]] = {
    "python": ("pypi.org", "files.pythonhosted.org"),
    "npm": ("registry.npmjs.org", "registry.yarnpkg.com"),
    "conda": ("conda.anaconda.org", "repo.anaconda.com"),
    "github": (
        "github.com",
        "api.github.com",
        "codeload.github.com",
        "media.githubusercontent.com",
        "objects.githubusercontent.com",
        "raw.githubusercontent.com",
        "release-assets.githubusercontent.com",
    ),
}
"""Named sets of hosts that people ask for together, all on port 443.

A host that can be written to is also a way to carry data out; GitHub is one.
"""

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*")
_PORT = re.compile(r"\d{1,5}")


def normal_host(text: str) -> str:
    """A host as it is compared: lower case, without the dot at the end."""
    return text.lower().removesuffix(".")


def is_name(host: str) -> bool:
    """Whether this is the name of a host in ASCII, in any spelling but that of an address."""
    return len(host) <= 253 and bool(_NAME.fullmatch(host)) and not is_address(host)


def is_address(host: str) -> bool:
    """Whether this is an IP address, or what a resolver takes for one, such as ``0x7f.1``."""
    return ":" in host or bool(_NUMBER.fullmatch(host.rpartition(".")[2]))


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One place that may be reached.

    Attributes
    ----------
    host
        A name such as ``example.org``, or ``*.example.org`` for every name below it but not
        itself. Never an IP address.
    port
        The one port.
    """

    host: str
    port: int = HTTPS

    def __post_init__(self) -> None:
        host = normal_host(self.host)
        msgspec.structs.force_setattr(self, "host", host)
        name = host.removeprefix("*.")
        if not is_name(name):
            raise ValueError(
                f"{self.host!r} is not the name of a host. A rule names one, such as example.org, "
                "or all below one, such as *.example.org, without 'https://' and not by its "
                "IP address"
            )
        if host != name and "." not in name:
            raise ValueError(f"{self.host!r} would allow too much of the internet")
        if not 0 < self.port < 65536:
            raise ValueError(f"{self.port} is not a port; ports are from 1 to 65535")

    def __str__(self) -> str:
        return self.host if self.port == HTTPS else f"{self.host}:{self.port}"

    @classmethod
    def parse(cls, text: str) -> Rule:
        """A rule as people write it: a host, or a host and a port, such as ``example.org:8080``.

        Raises
        ------
        ValueError
            When it is none; the message says why.
        """
        host, colon, port = text.partition(":")
        if colon and not _PORT.fullmatch(port):
            raise ValueError(f"{text!r} is not a host, or a host and a port")
        return cls(host, int(port) if colon else HTTPS)

    @classmethod
    def of_url(cls, url: str) -> Rule:
        """The place that a URL leads to.

        Raises
        ------
        ValueError
            When it is no ``http://`` or ``https://`` URL, or names its host by address.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is not a URL that begins with https:// or http://")
        return cls(parts.hostname, parts.port or (HTTPS if parts.scheme == "https" else HTTP))

    def allows(self, host: str, port: int) -> bool:
        """Whether it covers this place; ``host`` is to be normal."""
        if port != self.port:
            return False
        return host.endswith(self.host[1:]) if self.host.startswith("*.") else host == self.host
