"""What tests of sessions share."""

from __future__ import annotations

import asyncio
from typing import Protocol

import psutil
from waiting import PATIENCE

from openhands_jupyter.events import AgentStateChangedObservation, Event, EventStream

SECRET = "sk-canary-0123456789"
"""An API key that must be seen by the provider and by nobody else."""


class HasStream(Protocol):
    """A session, or what stands for one."""

    stream: EventStream


async def until(session: HasStream, *states: str, after: int = -1) -> AgentStateChangedObservation:
    """Wait for one of these states, after an event."""

    def arrived(event: Event) -> bool:
        return isinstance(event, AgentStateChangedObservation) and event.state in states

    async with asyncio.timeout(PATIENCE):
        event = await session.stream.wait_for(arrived, after=after)
    assert isinstance(event, AgentStateChangedObservation)
    return event


def events(session: HasStream, *kinds: type[Event]) -> list[Event]:
    return [e for e in session.stream.read(limit=10_000) if isinstance(e, kinds or Event)]


def kernels() -> set[int]:
    """The kernels below this process."""
    found = set()
    for process in psutil.Process().children(recursive=True):
        try:
            if "ipykernel_launcher" in process.cmdline():
                found.add(process.pid)
        except psutil.Error:
            continue
    return found
