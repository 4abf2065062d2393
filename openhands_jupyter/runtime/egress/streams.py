"""What goes over the connections of the proxy."""

from __future__ import annotations

import asyncio
import contextlib

from .request import Refused

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]

CHUNK = 65536
GRACE = 1.0
"""Seconds for a client to hang up when nothing more will come."""

HOW_TO_ALLOW = (
    "To allow it, answer the refusal in the session, or add the host under Network in the "
    "OpenHands settings.\n"
)


async def refuse(client: Stream, refused: Refused) -> None:
    """Answer with the sentence, as the reason too, because that is what most programs show."""
    reader, writer = client
    hint = HOW_TO_ALLOW if refused.reason == "not_listed" else ""
    body = f"{refused.sentence}\n{hint}".encode()
    head = (
        f"HTTP/1.1 {refused.status} {refused.sentence}\r\n"
        "Content-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\n"
        "Connection: close\r\n\r\n"
    )
    # What the client still sends must be read, or closing would take the answer away from it.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(GRACE):
            writer.write(head.encode() + body)
            writer.write_eof()
            while await reader.read(CHUNK):
                pass


async def join(client: Stream, server: Stream, idle_seconds: float) -> None:
    """Pass on what either side sends until both have ended, or neither sends any more.

    A client that has not ended soon after the server did is not waited for.
    """
    loop = asyncio.get_running_loop()
    patience = idle_seconds

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # So that nothing is left unsent when this returns.
        writer.transport.set_write_buffer_limits(high=0)
        while data := await reader.read(CHUNK):
            idle.reschedule(loop.time() + patience)
            writer.write(data)
            await writer.drain()
        writer.write_eof()

    async def answer() -> None:
        nonlocal patience
        await pass_on(server[0], client[1])
        patience = min(patience, GRACE)
        idle.reschedule(loop.time() + patience)

    async with asyncio.timeout(idle_seconds) as idle:
        try:
            async with asyncio.TaskGroup() as directions:
                directions.create_task(pass_on(client[0], server[1]))
                directions.create_task(answer())
        except* OSError:
            pass
