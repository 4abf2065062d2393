"""Making what cannot be left half made."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

Made = TypeVar("Made")


async def made_or_undone(
    making: Awaitable[Made], undo: Callable[[Made], Awaitable[object]]
) -> Made:
    """Await what is being made; where this is cancelled meanwhile, let it be made, and undo it.

    It is for what goes on although nobody awaits it any more: a thread, which cannot be cancelled,
    and a process, which asyncio may wait for without end if its making is.

    Parameters
    ----------
    making
        Makes it.
    undo
        Takes it back.
    """
    task = asyncio.ensure_future(making)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await undo(await task)
        raise
