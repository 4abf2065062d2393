"""What a person may choose about a remote Jupyter server."""

from __future__ import annotations

from pathlib import Path

import msgspec

TOKEN = "JUPYTER_GATEWAY_AUTH_TOKEN"
"""The secret that opens it, by the name that jupyter_server's gateway client gave it."""


class GatewaySettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which remote server, and which of its kernels.

    Certificates, timeouts and other ways to log in are those of jupyter_server's
    ``GatewayClient``.

    Attributes
    ----------
    url
        Its address; None for the one that this Jupyter server itself has its kernels at.
    kernel
        The name of a kernelspec there; None for that side's default.
    folder
        The folder there to work in; None for where its kernels start.
    token
        What to log in with; None for what ``GatewayClient`` is configured with.
    notes
        The folder here that holds the ids of running kernels, so that those of killed servers are
        ended; None to keep no notes.
    """

    url: str | None = None
    kernel: str | None = None
    folder: str | None = None
    token: str | None = None
    notes: Path | None = None

    def __repr__(self) -> str:
        return f"GatewaySettings(kernel={self.kernel!r}, folder={self.folder!r})"
