"""Waiting for what the processes under test cannot tell by themselves."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

PATIENCE = 60.0
"""Seconds after which a test that waits has failed; nothing is measured with it."""


async def wait_until(condition: Callable[[], Any], seconds: float = PATIENCE) -> None:
    """Wait until a condition, which may be a coroutine function, holds."""
    async with asyncio.timeout(seconds):
        while True:
            found = condition()
            if await found if inspect.isawaitable(found) else found:
                return
            await asyncio.sleep(0.02)
