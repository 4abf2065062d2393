"""Waiting for a kernel that starts no longer than it takes.

jupyter_client's own `wait_for_ready` ends only when nothing has come for 0.2 seconds, and ZeroMQ
looks for a socket that is not there yet only every 0.1 to 0.2 seconds: together more than half the
time that a kernel needs.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.manager import AsyncKernelManager

LOOK_AGAIN = 0.003
ASK_AGAIN = 0.1
"""Seconds; what a kernel says before somebody is subscribed to it is lost."""


async def until_listening(manager: AsyncKernelManager) -> None:
    """Wait until the sockets of a kernel over ipc are there; it may take for ever."""
    ports = (manager.shell_port, manager.stdin_port, manager.iopub_port, manager.control_port)
    sockets = [f"{manager.ip}-{port}" for port in ports]
    # No link is followed: in a sandbox, what is in their folder is not to be trusted.
    while not all(map(os.path.lexists, sockets)):  # noqa: ASYNC110 - they are another process's
        await asyncio.sleep(LOOK_AGAIN)


async def until_answering(client: AsyncKernelClient) -> None:
    """Wait until a kernel answers and what it prints arrives; it may take for ever.

    Messages may be left that belong to nothing that the caller asks for.
    """
    client.kernel_info()
    answer: asyncio.Future[Any] = asyncio.ensure_future(client.get_shell_msg())
    news: asyncio.Future[Any] = asyncio.ensure_future(client.get_iopub_msg())
    try:
        while not (answer.done() and news.done()):
            await asyncio.wait({answer, news}, timeout=ASK_AGAIN)
            if answer.done() and not news.done():
                client.kernel_info()
        await asyncio.gather(answer, news)
    finally:
        answer.cancel()
        news.cancel()
