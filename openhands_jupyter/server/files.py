"""What became of the workspace's files, and taking it back."""

from __future__ import annotations

from .answers import Created
from .base import ApiHandler, allowed
from .bodies import CheckpointsQuery, DiffQuery, NewRewind, NewUndo, RewindQuery, UndoQuery


class CheckpointsHandler(ApiHandler):
    """The checkpoints of a session."""

    @allowed("read")
    async def get(self, session_id: str) -> None:
        """The newest ones on the log, the newest first."""
        query = self.query(CheckpointsQuery)
        session = await self.session(session_id)
        self.answer({"checkpoints": await session.files.checkpoints(query.limit)})


class DiffHandler(ApiHandler):
    """What differs between two checkpoints."""

    @allowed("read")
    async def get(self, session_id: str) -> None:
        """The paths that differ, or the text of one of them in both."""
        query = self.query(DiffQuery)
        files = (await self.session(session_id)).files
        if query.path is None:
            self.answer(await files.diff(query.from_, query.to))
        else:
            self.answer(await files.texts(query.from_, query.to, query.path))


class UndoHandler(ApiHandler):
    """The undo of a turn."""

    @allowed("read")
    async def get(self, session_id: str) -> None:
        """Say what an undo would do now."""
        query = self.query(UndoQuery)
        session = await self.session(session_id)
        self.answer(await session.files.undo_preview(query.turn))

    @allowed("execute")
    async def post(self, session_id: str) -> None:
        """Undo; what came of it is an event."""
        undo = self.body(NewUndo)
        session = await self.session(session_id)
        await session.files.until_kept()
        self.answer(Created(id=session.undo(undo.turn, undo.force)), 202)


class RewindHandler(ApiHandler):
    """The way back to an event."""

    @allowed("read")
    async def get(self, session_id: str) -> None:
        """Say what a rewind would do now."""
        query = self.query(RewindQuery)
        session = await self.session(session_id)
        self.answer(await session.files.rewind_preview(query.event))

    @allowed("execute")
    async def post(self, session_id: str) -> None:
        """Rewind; what came of it are events."""
        rewind = self.body(NewRewind)
        session = await self.session(session_id)
        self.answer(Created(id=session.rewind(rewind.event, rewind.replay, rewind.force)), 202)
