"""Sessions: list, create, change, delete; and what the person tells one to do."""

from __future__ import annotations

import re

from ..errors import NotFound
from .agents import check_agent
from .answers import Created, Packages
from .base import ApiHandler, allowed
from .bodies import (
    NewCommand,
    NewDecision,
    NewDryRun,
    NewMessage,
    NewSession,
    SessionChanges,
    decisions_of,
    given,
)
from .context import as_events


class SessionsHandler(ApiHandler):
    """All sessions."""

    @allowed("read")
    async def get(self) -> None:
        """List the sessions, newest first."""
        self.answer({"sessions": await self.services.sessions.list()})

    # As with a change: an agent may be code of one's own, and Auto approves in advance.
    @allowed("execute")
    async def post(self) -> None:
        """Begin a session."""
        new = self.body(NewSession)
        self.services.config.require_unlocked(given(new))
        session = await self.services.sessions.create(
            title=new.title,
            workspace=new.workspace,
            model=new.model,
            mode=new.mode,
            agent=new.agent,
        )
        self.services.sessions.prewarm(session)
        self.answer(session.info(), 201)


class SessionHandler(ApiHandler):
    """One session."""

    @allowed("read")
    async def get(self, session_id: str) -> None:
        """Say how the session is."""
        self.answer((await self.session(session_id)).info())

    # Choosing Auto approves in advance.
    @allowed("execute")
    async def patch(self, session_id: str) -> None:
        """Change the session's title or settings."""
        changes = self.body(SessionChanges)
        self.services.config.require_unlocked(given(changes))
        session = await self.session(session_id)
        if changes.agent is not None:
            await check_agent(changes.agent)
        if changes.title is not None:
            session.rename(changes.title)
        settings = {name: value for name, value in given(changes).items() if name != "title"}
        if settings:
            session.change_settings(**settings)
        self.answer(session.info())

    @allowed("write")
    async def delete(self, session_id: str) -> None:
        """Delete the session with its log; files in the workspace stay."""
        self.services.gone.add(session_id)
        try:
            await self.services.sessions.delete(session_id)
        except BaseException:
            self.services.gone.discard(session_id)
            raise
        self.answer_nothing()


class MessagesHandler(ApiHandler):
    """Messages to the agent."""

    @allowed("execute")
    async def post(self, session_id: str) -> None:
        """Say something to the agent; it begins to work if it was not working."""
        message = self.body(NewMessage)
        session = await self.session(session_id)
        id = session.send_message(message.content, as_events(message.context))
        self.answer(Created(id=id), 201)


class ConfirmationHandler(ApiHandler):
    """The decision on one action."""

    @allowed("execute")
    async def post(self, session_id: str, event_id: str) -> None:
        """Approve or reject; the same decision again changes nothing and answers the same."""
        decision = self.body(NewDecision)
        session = await self.session(session_id)
        id, new = session.confirm(
            _number_of(event_id), decision.decision, decision.reason, decisions_of(decision)
        )
        self.answer(Created(id=id), 201 if new else 200)


class DryRunHandler(ApiHandler):
    """What waits for a decision, tried in the sandbox."""

    @allowed("execute")
    async def post(self, session_id: str, event_id: str) -> None:
        """Try it; an observation answers the new event."""
        wanted = self.body(NewDryRun)
        session = await self.session(session_id)
        id = session.dry_run(_number_of(event_id), decisions_of(wanted))
        self.answer(Created(id=id), 202)

    @allowed("execute")
    async def delete(self, session_id: str, event_id: str) -> None:
        """Stop it, if it runs; the approval goes on waiting."""
        session = await self.session(session_id)
        session.stop_dry_run(_number_of(event_id))
        self.answer_nothing()


class PackagesHandler(ApiHandler):
    """The packages that were installed in sandboxes on the session's workspace."""

    @allowed("read")
    async def get(self, session_id: str) -> None:
        """Say how much they take."""
        session = await self.session(session_id)
        self.answer(Packages(size=await session.packages_size()))

    @allowed("write")
    async def delete(self, session_id: str) -> None:
        """Remove them; the next action gets a new sandbox."""
        await (await self.session(session_id)).remove_packages()
        self.answer_nothing()


class DiagnosisHandler(ApiHandler):
    """What the session waits for."""

    @allowed("read")
    async def get(self, session_id: str) -> None:
        """Say which service, for how long, and what can be done about it."""
        self.answer(await (await self.session(session_id)).diagnosis())


class StateHandler(ApiHandler):
    """The agent's state."""

    @allowed("execute")
    async def post(self, session_id: str) -> None:
        """Run, pause or stop the agent."""
        command = self.body(NewCommand)
        session = await self.session(session_id)
        self.answer(Created(id=session.command(command.command)), 202)


def _number_of(event_id: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", event_id):
        raise NotFound("event_not_found", "There is no such event.")
    return int(event_id)
