"""Asking a model again after a while, where its provider is likely to answer then."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from itertools import count
from typing import TypeVar

from ..errors import ModelError
from ..events import ChangeAgentStateAction, ChangeSettingsAction, Event
from .log import Log

LONGEST_PAUSE = 120.0
"""Seconds; a provider that wants more than that is not waited for."""

_RETRIED = {
    "model_cut_off": 100,
    "model_rate_limited": 100,
    "model_unavailable": 100,
    "model_unreachable": 100,
    # Each of them has taken long enough already.
    "model_timeout": 1,
}
"""How often a fault is worth another try at most, by its code."""

T = TypeVar("T")


class Retrying:
    """Makes the model calls of one session again that failed for the moment.

    Each wait is a state of the session, which the person can cut short (run, or another model) or
    end (stop, pause).

    Parameters
    ----------
    log
        Where the waits are told.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._enough = asyncio.Event()
        log.stream.add_listener(self._on_event)

    async def call(self, make: Callable[[], Awaitable[T]], retries: int) -> T:
        """Make a call, and again after a wait while that makes sense.

        Parameters
        ----------
        make
            Makes the call; anew for each try.
        retries
            How often it is made again at most.

        Raises
        ------
        ModelError
            That of the last try.
        """
        for attempt in count():
            try:
                return await make()
            except ModelError as error:
                seconds = pause_before_retry(error, attempt, retries)
                if seconds is None:
                    raise
                await self._wait(error, seconds)
        raise AssertionError("unreachable")

    async def _wait(self, error: ModelError, seconds: float) -> None:
        self._enough.clear()
        self._log.set_state(
            "rate_limited",
            error.message,
            code=error.code,
            hint="It is asked again by itself. You can also stop, or choose another model.",
            retry_in=round(seconds, 3),
        )
        try:
            async with asyncio.timeout(seconds):
                await self._enough.wait()
        except TimeoutError:
            pass
        self._log.set_state("running")

    def _on_event(self, event: Event) -> None:
        match event:
            case ChangeAgentStateAction(command="run") | ChangeSettingsAction(model=str()):
                self._enough.set()


def pause_before_retry(error: ModelError, attempt: int, retries: int) -> float | None:
    """Seconds to wait before the model is asked again; None where that makes no sense.

    Parameters
    ----------
    attempt
        How many times it was asked again already.
    retries
        How often it is asked again at most.
    """
    if attempt >= min(retries, _RETRIED.get(error.code, 0)):
        return None
    # At random, so that sessions that were refused together do not come back together; but never
    # before the provider wants them.
    if error.retry_after is None:
        return min(2.0**attempt, LONGEST_PAUSE / 2) * random.uniform(0.5, 1.5)
    if error.retry_after > LONGEST_PAUSE:
        return None
    return error.retry_after * random.uniform(1.0, 1.1)
