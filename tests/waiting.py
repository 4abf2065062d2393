"""Waiting for what the processes under test cannot tell by themselves."""

from __future__ import annotations

import asyncio
import inspect
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE = 120.0
"""Seconds after which a test that waits has failed; nothing is measured with it."""


def unhurried() -> float:
    """Seconds of a clock that stands still while anything on this machine waits for a processor.

    For what has to be quick by itself: how long others kept it waiting says nothing about it. Where
    the system does not tell (see `psi` of Linux), it never stands still.
    """
    now = time.monotonic()
    try:
        pressure = Path("/proc/pressure/cpu").read_text(encoding="ascii")
    except OSError:
        return now
    stalled = re.search(r"^some .*total=(\d+)$", pressure, re.MULTILINE)
    return now - int(stalled[1]) / 1e6 if stalled else now


async def wait_until(condition: Callable[[], Any], seconds: float = PATIENCE) -> None:
    """Wait until a condition, which may be a coroutine function, holds."""
    async with asyncio.timeout(seconds):
        while True:
            found = condition()
            if await found if inspect.isawaitable(found) else found:
                return
            await asyncio.sleep(0.02)
