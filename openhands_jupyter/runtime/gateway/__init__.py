"""The sandbox elsewhere: a kernel of a remote Jupyter server, Kernel Gateway or Enterprise Gateway.

What reaches it is configured as for jupyter_server's own gateway client, see `connect`. This
package imports nothing heavy; its module `remote`, which `start` loads, does.
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING

from ...errors import SandboxUnavailable

if TYPE_CHECKING:
    from ..launch import Launch
    from .remote import RemoteSandbox


async def start(launch: Launch) -> RemoteSandbox:
    """Start a remote kernel, with agentd beside it.

    Raises
    ------
    SandboxUnavailable
        When that cannot be done.
    """
    # It imports jupyter_server, which takes too long for the event loop.
    remote = await asyncio.to_thread(import_module, ".remote", __name__)
    sandbox: RemoteSandbox = await remote.start(launch)
    return sandbox


def explain(stderr: str) -> SandboxUnavailable:
    """Say why agentd did not start, from what it wrote."""
    last = stderr.strip().splitlines()[-1:] or ["it said nothing"]
    return SandboxUnavailable(
        f"Our part of the sandbox did not start beside the remote kernel ({last[0][:300]}).",
        "The kernel's machine needs Linux, Python 3.8 or newer, and bash.",
    )
