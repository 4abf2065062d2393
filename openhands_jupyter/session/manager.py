"""All sessions in the home folder, and those that are open in this process."""

from __future__ import annotations

import asyncio
import builtins
import logging
import os
import re
import shutil
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4
from weakref import WeakValueDictionary

import msgspec

from ..agents import registry
from ..config import Config, HomeNotWritable
from ..errors import Invalid, NotFound, OpenHandsError
from ..events import ErrorObservation, EventStream, Masker, Mode, State
from ..events.jsonl import take_lease
from ..events.stream import Listener
from ..llm.base import LanguageModel
from ..llm.gateway import GatewayModel, ModelGateway
from ..llm.tour import TourModel
from ..notebooks.delivery.notebooks import Notebooks, notebooks_in
from ..runtime import check_workspace
from ..runtime.checkpoints import Shelf
from ..runtime.kernel_host import MakeHost
from .idle import IdleKeeper
from .info import INFO_FILE, SessionInfo, read_info
from .mcp import McpRoom
from .prewarm import Prewarmer
from .session import Session

if TYPE_CHECKING:
    from ..notebooks.running.driving import Runs
    from ..notebooks.running.kernels import Kernels

SESSION_ID = re.compile(r"[0-9a-f]{32}")

_log = logging.getLogger(__name__)


class SessionManager:
    """All sessions in the home folder, and those that are open in this process.

    Parameters
    ----------
    config
        The settings in force.
    log
        Where to report what went wrong behind the scenes.
    on_event
        Told every event of every session that is open; see `EventStream.add_listener`.
    make_host
        Makes where a session's kernel is shown to the person; None for nowhere.
    notebooks
        The way to each notebook; None where there is no server, only files.
    kernels, runs
        The kernels of notebooks, and the cells that are run in them; None where there is no server.
    models
        Those that answer in this process, beside the tour.

    Attributes
    ----------
    mcp
        The person's MCP servers.
    """

    def __init__(
        self,
        config: Config,
        *,
        log: logging.Logger = _log,
        on_event: Listener = lambda event: None,
        make_host: MakeHost | None = None,
        notebooks: Notebooks | None = None,
        kernels: Kernels | None = None,
        runs: Runs | None = None,
        models: Iterable[LanguageModel] = (),
    ) -> None:
        self._config = config
        self._given_notebooks = notebooks
        self._kernels = kernels
        self._runs = runs
        self._log = log
        self._on_event = on_event
        self._make_host = make_host
        self._open: dict[str, Session] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._masker = Masker(config.secrets_values)
        self._gateway = ModelGateway()
        self._here = {model.name: model for model in (TourModel(), *models)}
        self.mcp = McpRoom(config, self._masker)
        self._idle = IdleKeeper(
            lambda: config.settings.idle_timeout, lambda: self._open.values(), self._forget
        )
        self._prewarmer = Prewarmer(lambda: config.settings.prewarm)

    async def create(
        self,
        title: str = "",
        workspace: str | None = None,
        model: str | None = None,
        mode: Mode | None = None,
        agent: str | None = None,
    ) -> Session:
        """Begin a session.

        Parameters
        ----------
        title
            Name in lists; the first message gives one if empty.
        workspace
            Folder to work in, absolute or relative to the root; None for the root itself, or a
            folder below it where the root must not be handed to an agent.
        model, mode, agent
            None for the configured ones.

        Raises
        ------
        Invalid
            When the workspace cannot be used, or there is no such agent.
        HomeNotWritable
            When nothing can be kept.
        """
        settings = self._config.settings
        agent = agent or settings.agent
        await asyncio.to_thread(registry.find, agent)
        folder = await asyncio.to_thread(self._workspace, workspace)
        await asyncio.to_thread(self._config.ensure_home)
        now = datetime.now(UTC)
        info = SessionInfo(
            id=uuid4().hex,
            title=title,
            created=now,
            updated=now,
            workspace=str(folder),
            sandbox=settings.isolation,
        )
        async with self._lock(info.id):
            session = await self._load(info)
            try:
                session.change_settings(
                    **{name: getattr(settings, name) for name in session.settings()}
                    | {
                        "mode": mode or settings.mode,
                        "model": model or settings.model,
                        "agent": agent,
                    }
                )
                await asyncio.to_thread(session.keeping.save)
            except OSError as error:
                del self._open[session.id]
                await session.close()
                raise HomeNotWritable(self._config.home, error) from error
        self._warm(session)
        return session

    async def list(self) -> list[SessionInfo]:
        """The sessions that work below the root, the last used first."""
        kept = await asyncio.to_thread(self._read_all)
        infos = {info.id: info for info in kept}
        infos |= {session.id: session.info() for session in self._open.values()}
        return sorted(infos.values(), key=lambda info: info.updated, reverse=True)

    async def open(self, session_id: str, *, with_model: bool = True) -> Session:
        """The session with this id, loaded from its log if it is not open yet.

        Parameters
        ----------
        session_id
            Its id.
        with_model
            Whether to get the model ready in the background; else it is when it is asked.

        Raises
        ------
        NotFound
            When there is none, or it works outside the root.
        Conflict
            When another process has it open.
        """
        async with self._lock(session_id):
            if session_id in self._open:
                self._open[session_id].touch()
                return self._open[session_id]
            session = await self._load(await asyncio.to_thread(self._read, session_id))
            self._apply_locks(session)
        if with_model:
            self._warm(session)
        return session

    def prewarm(self, session: Session) -> None:
        """Have the session's sandbox ready before its first action, as somebody looks at it."""
        self._prewarmer.prewarm(session)

    async def delete(self, session_id: str) -> None:
        """End a session and remove everything that is kept of it, but not its workspace.

        Raises
        ------
        NotFound
            When there is none.
        Conflict
            When another process has it open.
        """
        async with self._lock(session_id):
            info = await asyncio.to_thread(self._read, session_id)
            if session := self._open.pop(session_id, None):
                await session.close("The session was deleted.")
            await asyncio.to_thread(_remove, self._config.sessions_folder / session_id)
            await asyncio.to_thread(self._leave_checkpoints, info)

    def _leave_checkpoints(self, info: SessionInfo) -> None:
        """Remove the checkpoints that no other session of the workspace has on its log."""
        shelf = Shelf(self._config.home, Path(info.workspace), info.id)
        try:
            shelf.leave(lambda id: (self._config.sessions_folder / id).exists())
        except (OSError, OpenHandsError) as error:
            self._log.warning("Checkpoints of session %s are left: %s", info.id, error)

    def settings_changed(self) -> None:
        """Apply to the open sessions what of changed settings counts for them at once."""
        for session in self._open.values():
            session.settings_changed(self._config.settings)

    async def close(self) -> None:
        """Close all sessions and end the model gateway."""
        await self._prewarmer.close()
        await self._idle.close()
        sessions, self._open = list(self._open.values()), {}
        results = await asyncio.gather(
            *(session.close() for session in sessions), return_exceptions=True
        )
        for session, result in zip(sessions, results, strict=True):
            if isinstance(result, BaseException):
                self._log.error("Session %s did not close cleanly: %r", session.id, result)
        await self.mcp.close()
        await self._gateway.close()

    def resolve_model(self, name: str) -> LanguageModel:
        """The model of this name."""
        if name in self._here:
            return self._here[name]
        return GatewayModel(self._gateway, self._config.model_config(name))

    @cached_property
    def _notebooks(self) -> Notebooks:
        """The way to each notebook; without a server, made when the first one is asked for."""
        return self._given_notebooks or notebooks_in(self._config.root)

    async def _load(self, info: SessionInfo) -> Session:
        """Open the log and fold it; the caller holds the session's lock."""
        folder = self._config.sessions_folder / info.id
        try:
            stream = await asyncio.to_thread(EventStream, folder, self._masker)
        except OSError as error:
            raise HomeNotWritable(self._config.home, error) from error
        try:
            state = await asyncio.to_thread(_fold, stream)
            session = Session(
                stream,
                state,
                info,
                self._config,
                self.resolve_model,
                lambda: self._notebooks,
                await self.mcp.servers_of(info.id, Path(info.workspace)),
                self._make_host,
                self._kernels,
                self._runs,
            )
        except BaseException:
            await stream.close()
            raise
        stream.add_listener(self._on_event)
        self._open[info.id] = session
        self._idle.start()
        if stream.torn:
            stream.append(_repaired(stream.torn))
        return session

    async def _forget(self, session: Session) -> None:
        """Close a session that nobody uses; it is opened again when it is asked for."""
        async with self._lock(session.id):
            if self._open.get(session.id) is session and session.forgettable:
                del self._open[session.id]
                await session.close("Nobody used the session.")

    def _apply_locks(self, session: Session) -> None:
        """Give a session that was begun before what the administrator has locked since."""
        settings, locked = self._config.settings, self._config.locked
        changes = {
            name: getattr(settings, name)
            for name, value in session.settings().items()
            if name in locked and getattr(settings, name) != value
        }
        session.change_settings(**changes)

    def _warm(self, session: Session) -> None:
        """Have the model gateway started before the first message, unless it is not needed."""
        if session.info().model not in self._here:
            self._gateway.warm()

    def _lock(self, session_id: str) -> asyncio.Lock:
        """The session's lock; it is gone when nobody holds or awaits it."""
        return self._locks.setdefault(session_id, asyncio.Lock())

    def _read(self, session_id: str) -> SessionInfo:
        folder = self._config.sessions_folder / session_id
        if not SESSION_ID.fullmatch(session_id) or not (folder / INFO_FILE).is_file():
            raise NotFound(
                "session_not_found", f"There is no session {session_id}.", "It may be deleted."
            )
        info = read_info(folder)
        if not Path(info.workspace).is_relative_to(self._config.root):
            raise NotFound(
                "session_elsewhere",
                f"Session {session_id} works in {info.workspace}, which is not in "
                f"{self._config.root}.",
                "Start Jupyter in that folder, or above it, to go on with it.",
            )
        return info

    def _read_all(self) -> builtins.list[SessionInfo]:
        infos = []
        for path in self._config.sessions_folder.glob(f"*/{INFO_FILE}"):
            try:
                infos.append(self._read(path.parent.name))
            except NotFound:
                continue
            except (OSError, msgspec.DecodeError) as error:
                self._log.warning("%s is left out of the list: %s", path, error)
        return infos

    def _workspace(self, given: str | None) -> Path:
        root = self._config.root
        if given is not None:
            folder = (root / given).resolve()
            if not folder.is_relative_to(root):
                raise Invalid(
                    "workspace_outside",
                    f"The workspace {given} is outside the folder {root}.",
                    "Choose a folder that the file browser shows.",
                )
            if not folder.is_dir():
                raise Invalid("workspace_missing", f"There is no folder {folder}.")
            return check_workspace(folder)
        try:
            return check_workspace(root)
        except Invalid:
            # Somebody who starts Jupyter at home gets a folder there, not the whole of it.
            folder = root / "openhands"
            folder.mkdir(exist_ok=True)
            return check_workspace(folder)


def _fold(stream: EventStream) -> State:
    state = State()
    while state.last_id < stream.last_id:
        for event in stream.read(after=state.last_id, limit=1000):
            state.apply(event)
    return state


def _repaired(torn: bytes) -> ErrorObservation:
    return ErrorObservation(
        code="log_repaired",
        message=f"The last line of the log was not written whole ({len(torn)} bytes); "
        "it was cut off and kept beside the log.",
        hint="The server was probably killed while writing it.",
    )


def _remove(folder: Path) -> None:
    lease = take_lease(folder)
    try:
        shutil.rmtree(folder)
    finally:
        os.close(lease)
