"""Where the Docker daemon is: as Docker's own tools find it.

``DOCKER_HOST`` counts first, then the context in ``DOCKER_CONTEXT`` or the one chosen with ``docker
context use``, then the usual socket. For TLS: ``DOCKER_TLS_VERIFY`` and ``DOCKER_CERT_PATH``, or
what the context keeps. See "Environment variables" in the reference of the docker command.
"""

from __future__ import annotations

import json
import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..launch import BackendUnavailable

if TYPE_CHECKING:
    from docker.tls import TLSConfig

UNIX = "unix://"
TCP = "tcp://"
DEFAULT_HOST = f"{UNIX}/var/run/docker.sock"
_CERTIFICATES = ("ca.pem", "cert.pem", "key.pem")


@dataclass(frozen=True)
class Endpoint:
    """The address of a daemon.

    Attributes
    ----------
    host
        As in ``DOCKER_HOST``.
    certificates
        Paths of the authority's, the client's and the client's key; None without encryption.
    """

    host: str
    certificates: tuple[str, str, str] | None = None

    @property
    def is_here(self) -> bool:
        """Whether it is a socket of this machine."""
        return self.host.startswith(UNIX)

    @property
    def socket(self) -> str:
        """The path of the socket, where it is one."""
        return self.host.removeprefix(UNIX)

    @property
    def address(self) -> tuple[str, int]:
        """Name and port of the machine, where it is not a socket."""
        parts = urlsplit(self.host)
        return parts.hostname or "localhost", parts.port or (2376 if self.certificates else 2375)

    def tls_config(self) -> TLSConfig | None:
        """For Docker's SDK: the certificates, which are always checked."""
        from docker.tls import TLSConfig

        if self.certificates is None:
            return None
        authority, certificate, key = self.certificates
        return TLSConfig(client_cert=(certificate, key), ca_cert=authority, verify=True)

    def ssl_context(self) -> ssl.SSLContext | None:
        """For a connection of our own."""
        if self.certificates is None:
            return None
        authority, certificate, key = self.certificates
        context = ssl.create_default_context(cafile=authority)
        context.load_cert_chain(certificate, key)
        return context

    def check(self) -> None:
        """Say what to do where it is an address of a kind that is not spoken here.

        Raises
        ------
        BackendUnavailable
            For ``ssh://`` and the like.
        """
        if self.host.startswith("ssh://"):
            # Docker's addresses may have a path, which ssh takes for a part of the name.
            target = f"ssh://{urlsplit(self.host).netloc}"
            socket = "$HOME/.docker-there.sock"
            raise BackendUnavailable(
                f"The Docker daemon cannot be reached over SSH by itself ({self.host}).",
                "Keep a tunnel open: ssh -nNT -o StreamLocalBindUnlink=yes "
                f'-L "{socket}:/var/run/docker.sock" {target}, and set DOCKER_HOST='
                f'"unix://{socket}".',
            )
        if not self.host.startswith((UNIX, TCP)):
            raise BackendUnavailable(
                f"The address of the Docker daemon is not understood ({self.host}).",
                "DOCKER_HOST begins with unix:// or tcp://.",
            )


def find_endpoint(environ: Mapping[str, str] = os.environ) -> Endpoint:
    """Where the daemon is. It reads files, so it is not for the event loop.

    Raises
    ------
    BackendUnavailable
        When there is no such context.
    """
    host = environ.get("DOCKER_HOST")
    if host:
        return Endpoint(host, _certificates(environ) if host.startswith(TCP) else None)
    folder = Path(environ.get("DOCKER_CONFIG") or Path.home() / ".docker")
    name = environ.get("DOCKER_CONTEXT") or _read(folder / "config.json").get("currentContext")
    return Endpoint(DEFAULT_HOST) if name in (None, "", "default") else _of_context(str(name))


def _certificates(environ: Mapping[str, str]) -> tuple[str, str, str] | None:
    folder = environ.get("DOCKER_CERT_PATH")
    if not folder and not environ.get("DOCKER_TLS_VERIFY"):
        return None
    base = Path(folder) if folder else Path.home() / ".docker"
    authority, certificate, key = (str(base / name) for name in _CERTIFICATES)
    return authority, certificate, key


def _of_context(name: str) -> Endpoint:
    from docker.context import Context

    context = Context.load_context(name)
    if context is None or not context.Host:
        raise BackendUnavailable(
            f"There is no Docker context {name}.",
            "Choose another one with 'docker context use', or set DOCKER_HOST.",
        )
    tls: Any = context.TLSConfig
    return Endpoint(context.Host, None if tls is None else (tls.ca_cert, *tls.cert))


def _read(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        # Docker's own tools go on without it too.
        return {}
    return content if isinstance(content, dict) else {}
