"""What tests of undo and rewind share."""

from __future__ import annotations

import asyncio

from session_tools import until
from waiting import PATIENCE

from openhands_jupyter.events import (
    CheckpointObservation,
    ErrorObservation,
    Event,
    FilesRestoredObservation,
)
from openhands_jupyter.session import Session


async def answer_to(session: Session, id: int) -> FilesRestoredObservation | ErrorObservation:
    """What came of an undo or a rewind."""

    def answers(event: Event) -> bool:
        kinds = (FilesRestoredObservation, ErrorObservation)
        return isinstance(event, kinds) and event.cause == id

    async with asyncio.timeout(PATIENCE):
        event = await session.stream.wait_for(answers, after=id)
    assert isinstance(event, FilesRestoredObservation | ErrorObservation)
    return event


async def undo(session: Session, *arguments: object, **options: object) -> FilesRestoredObservation:
    """Undo, and wait until that is done."""
    id = session.undo(*arguments, **options)  # type: ignore[arg-type]
    answer = await answer_to(session, id)
    assert isinstance(answer, FilesRestoredObservation), answer
    await until(session, "awaiting_user_input", after=id)
    return answer


async def turn(session: Session, message: str = "Go") -> CheckpointObservation:
    """Say something, and wait until the agent's turn is over and its changes are counted."""
    id = session.send_message(message)
    await until(session, "finished", after=id)
    return await turn_end(session, after=id)


async def turn_end(session: Session, after: int = -1) -> CheckpointObservation:
    def ends(event: Event) -> bool:
        return isinstance(event, CheckpointObservation) and bool(event.since)

    async with asyncio.timeout(PATIENCE):
        event = await session.stream.wait_for(ends, after=after)
    assert isinstance(event, CheckpointObservation)
    return event
