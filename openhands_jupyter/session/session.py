"""One session that is open in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ..agents import Agent, Cast, registry
from ..agents.delegate_tool import DelegateTool
from ..agents.skills import Library, Skills, SkillTool
from ..config import Config, Settings
from ..controller import AgentController
from ..controller.log import Log
from ..errors import Conflict, Invalid
from ..events import (
    AgentDelegateAction,
    AgentDelegateObservation,
    AgentStateChangedObservation,
    CellDecision,
    ChangeAgentStateAction,
    ChangeSettingsAction,
    Command,
    ConfirmationAction,
    Decision,
    Event,
    EventStream,
    IsolationObservation,
    LimitWarningObservation,
    MessageContext,
    Mode,
    RewindAction,
    SandboxReleasedObservation,
    State,
    TaskTrackingAction,
    UndoAction,
    UserMessageAction,
)
from ..llm.base import LanguageModel
from ..mcp.servers import McpServers
from ..notebooks.delivery.notebooks import Notebooks
from ..runtime.environment import packages
from ..runtime.kernel_host import MakeHost
from ..security import Gate
from . import conditions
from .decisions import check_cells
from .diagnosis import Diagnosis, diagnose
from .dry_runs import dry_run_of
from .files import SessionFiles, make_checkpointing
from .handing_over import HandingOver
from .info import SessionInfo, Spent
from .keeping import Keeping
from .mcp_actions import McpActions
from .model import SessionModel, SummaryModel, condenser_settings
from .network import SessionNetwork
from .notebook_work import NotebookWork
from .routing import RoutingRuntime
from .runtime import make_runtime
from .sandbox_kernel import SandboxKernel

if TYPE_CHECKING:
    from ..notebooks.running.driving import Runs
    from ..notebooks.running.kernels import Kernels

TITLE_LENGTH = 60


class Session:
    """One session that is open in this process.

    `SessionManager` makes them.

    Attributes
    ----------
    stream
        The session's log; events may be injected and watched there.
    controller
        What drives it.
    network
        What its sandbox may reach.
    files
        What changed in the workspace.
    keeping
        Tells what `info` gives whenever that changes, and keeps it on the disk.
    """

    controller: AgentController

    def __init__(
        self,
        stream: EventStream,
        state: State,
        info: SessionInfo,
        config: Config,
        resolve: Callable[[str], LanguageModel],
        notebooks: Callable[[], Notebooks],
        mcp: McpServers,
        make_host: MakeHost | None = None,
        kernels: Kernels | None = None,
        runs: Runs | None = None,
    ) -> None:
        self.id = info.id
        self.stream = stream
        self._state = state
        self._info = info
        folder = config.sessions_folder / info.id
        self.keeping = Keeping(folder, self.info, stream.settled)
        self._closed = False
        self._used = datetime.now(UTC)
        self._home = config.home
        self._mcp = mcp
        self._secrets = config.secrets
        workspace = self._workspace = Path(info.workspace)
        settings = config.settings
        self._condenser = condenser_settings(settings)
        self.network = SessionNetwork(stream, state, settings, config.locked, self.keeping.announce)
        self._kernel_host = make_host(info.id, self.keeping.announce) if make_host else None
        self._name_kernel()
        self._runtime = make_runtime(config, info, state, self.network.way_out, self._kernel_host)
        checkpoints = make_checkpointing(config, info, stream, state.files)
        self._notebooks = NotebookWork(
            config,
            info,
            stream,
            state,
            self._runtime,
            notebooks,
            kernels,
            runs,
            self.keeping.announce,
        )
        self._model = SessionModel(Log(stream, state), resolve, config)
        self._summarizer = SummaryModel(Log(stream, state), resolve, config)
        # The first that takes an action has it: what is of another kernel is the person's.
        executors = (
            SandboxKernel(self._runtime, stream.masker),
            *self._notebooks.executors,
            HandingOver(self._runtime),
            McpActions(mcp),
        )
        cells = self._notebooks.cells
        self.files = SessionFiles(stream, state.files, checkpoints, cells)
        self.controller = AgentController(
            stream,
            state,
            Cast(registry.find, self._make_agent),
            Gate(workspace),
            RoutingRuntime(self._runtime, executors, self._notebooks.runs),
            checkpoints,
            cells,
            Skills(Library(workspace, config.home)),
            lambda: config.hooks(workspace),
        )
        stream.add_listener(self.network.on_event)
        stream.add_listener(self._on_event)
        self.keeping.begin()

    def _make_agent(self, kind: type[Agent], delegates: bool) -> Agent:
        asking = self.controller.asking
        delegating = (DelegateTool(registry.delegables()),) if delegates and kind.delegates else ()
        return kind(
            self._model,
            self._workspace,
            on_delta=asking.on_delta,
            on_response=asking.on_response,
            blobs=self.stream.blobs,
            condenser=self._condenser,
            summarizer=self._summarizer,
            tool_sources=(self._mcp, SkillTool(lambda: self._state.skills), *delegating),
        )

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    @property
    def forgettable(self) -> bool:
        """Whether nothing would be lost or cut off if it were closed and opened again."""
        settled = self._state.agent_state in _SETTLED and self._state.mode != "auto"
        return settled and self.stream.subscribers == 0 and not self._notebooks.running

    def touch(self) -> None:
        """Note that somebody uses the session."""
        self._used = datetime.now(UTC)

    def unused_for(self) -> timedelta:
        """How long nothing has happened in the session, its kernel included."""
        at = self._kernel_host.used_at if self._kernel_host else None
        return datetime.now(UTC) - max(self._used, at or self._used)

    async def release_sandbox(self, reason: str) -> bool:
        """End the sandbox, unless something runs in it; the next action starts another.

        Parameters
        ----------
        reason
            Why, as a sentence for the person and the agent.

        Returns
        -------
        bool
            Whether there is none any more.
        """
        if await self.controller.sandbox.release(reason):
            await self._mcp.close()
            return True
        self.touch()
        return False

    def info(self) -> SessionInfo:
        """Where the session stands."""
        state = self._state
        return msgspec.structs.replace(
            self._info,
            state=state.agent_state,
            mode=state.mode,
            model=state.model,
            agent=state.agent,
            delegates=[delegation.action.agent for delegation in state.delegations],
            steps=state.steps,
            step_limit=state.limits.steps,
            limits=self.controller.guards.uses(),
            spent=Spent(
                prompt_tokens=state.spent.prompt_tokens,
                completion_tokens=state.spent.completion_tokens,
                cost=round(state.spent.cost, 6),
                unpriced_tokens=state.spent.unpriced_tokens,
            ),
            stuck_detection=state.limits.stuck_detection,
            stuck=state.stuck,
            last_id=state.last_id,
            isolation=state.isolation,
            asleep=state.asleep,
            pending=state.pending_confirmation,
            command_running=state.running_command is not None,
            cells_running=self._notebooks.running,
            plan=state.plan,
            secrets=list(self._secrets.given(state.secrets)),
            network=self.network.info(),
            kernel=self._kernel_host.kernel_id if self._kernel_host else None,
            open=not self._closed,
        )

    def settings(self) -> dict[str, Any]:
        """The session's settings, by the names that `change_settings` has for them."""
        state, limits = self._state, self._state.limits
        return {
            "mode": state.mode,
            "model": state.model,
            "agent": state.agent,
            "step_limit": limits.steps,
            "cost_limit": limits.cost,
            "token_limit": limits.tokens,
            "time_limit": limits.time,
            "stuck_detection": limits.stuck_detection,
        }

    def send_message(self, content: str, context: Sequence[MessageContext] = ()) -> int:
        """The person says something; gives the event's id.

        Parameters
        ----------
        content
            What they wrote.
        context
            What their notebooks were like, as far as it goes along.

        Raises
        ------
        Invalid
            When there is nothing in it.
        """
        if not content.strip():
            raise Invalid("empty_message", "The message is empty.", "Type a task or a question.")
        if not self._info.title:
            self.rename(_title_of(content))
        return self.stream.append(UserMessageAction(content=content, context=list(context)))

    def confirm(
        self,
        action_id: int,
        decision: Decision,
        reason: str = "",
        cells: list[CellDecision] | None = None,
    ) -> tuple[int, bool]:
        """The person decides on an action that waits for approval.

        Parameters
        ----------
        action_id
            Its id.
        decision, reason, cells
            As in a `ConfirmationAction`.

        Returns
        -------
        tuple
            The decision's event id, and whether it is new. The same decision again changes nothing.

        Raises
        ------
        NotFound
            When there is no such event.
        Conflict
            When it was decided otherwise already, or does not wait for a decision.
        Invalid
            When what is decided of cells does not fit the action.
        """
        earlier = self._state.decisions.get(action_id)
        if earlier and (earlier.decision, earlier.cells) == (decision, cells):
            return earlier.id, False
        conditions.require_waiting(self._state, action_id)
        check_cells(self._state.open_calls.get(action_id), cells, self.stream.masker)
        action = ConfirmationAction(cause=action_id, decision=decision, reason=reason, cells=cells)
        return self.stream.append(action), True

    def dry_run(self, action_id: int, cells: list[CellDecision] | None = None) -> int:
        """The person tries in the sandbox what waits for approval; gives the event's id.

        Parameters
        ----------
        action_id
            Id of what waits.
        cells
            What they have decided of single cells so far.

        Raises
        ------
        NotFound
            When there is no such event.
        Conflict
            When it does not wait for a decision, or is being tried already.
        Invalid
            When there is nothing in it that could be tried.
        """
        conditions.require_waiting(self._state, action_id)
        check_cells(self._state.open_calls.get(action_id), cells, self.stream.masker)
        action = dry_run_of(self.controller.pending, cells or [])
        return self.controller.dry_runs.begin(action)

    def stop_dry_run(self, action_id: int) -> None:
        """The person stops trying what waits for approval; nothing where it is not tried."""
        self.controller.dry_runs.give_up(action_id)

    def command(self, command: Command) -> int:
        """The person runs, pauses or stops the agent; gives the event's id.

        Raises
        ------
        Conflict
            When the session is in no state for it.
        """
        conditions.require_command(self._state, command, cells_running=self._notebooks.running)
        return self.stream.append(ChangeAgentStateAction(command=command))

    def undo(self, turn: int | None = None, force: Sequence[str] = ()) -> int:
        """The person takes back what a turn did to files and notebooks; gives the event's id.

        Parameters
        ----------
        turn
            Id of its first action that may have changed something; None for the last turn.
        force
            Paths to be restored although somebody else changed them since.

        Raises
        ------
        NotFound
            When there is no such turn.
        Conflict
            When the agent is at work, or there is nothing to undo.
        """
        conditions.require_undo(self._state)
        first = self.files.check_undo(turn)
        return self.stream.append(UndoAction(turn=first, force=list(force)))

    def rewind(self, event: int, replay: bool = False, force: Sequence[str] = ()) -> int:
        """The person goes back to before an event; gives the new event's id.

        What runs is stopped. The files are restored, and the kernel and the shell started anew.

        Parameters
        ----------
        event
            Id of the event.
        replay
            Whether to run the cells again that succeeded before it.
        force
            As in `undo`.

        Raises
        ------
        Conflict
            When an action waits for approval, or the files were not kept then.
        """
        conditions.require_rewind(self._state)
        self.files.check_rewind(event)
        return self.stream.append(RewindAction(event=event, replay=replay, force=list(force)))

    def change_settings(
        self,
        mode: Mode | None = None,
        model: str | None = None,
        agent: str | None = None,
        step_limit: int | None = None,
        cost_limit: float | None = None,
        token_limit: int | None = None,
        time_limit: float | None = None,
        stuck_detection: bool | None = None,
        secrets: list[str] | None = None,
    ) -> None:
        """Change settings of this session; None leaves one as it is, 0 takes a limit away.

        An ``agent`` that does not exist fails when it is to act; see `registry.find`.

        Other ``secrets`` are in the sandbox from the next action on, which starts another one.

        Raises
        ------
        Invalid
            When a secret may not be given to a sandbox.
        """
        if secrets is not None:
            secrets = sorted(set(secrets))
            self._secrets.require_for_sandboxes(secrets)
        change = ChangeSettingsAction(
            mode=mode,
            model=model,
            agent=agent,
            step_limit=step_limit,
            cost_limit=cost_limit,
            token_limit=token_limit,
            time_limit=time_limit,
            stuck_detection=stuck_detection,
            secrets=secrets,
        )
        if change != ChangeSettingsAction():
            self.stream.append(change)

    def settings_changed(self, settings: Settings) -> None:
        """Apply what of changed settings counts for a session that is open.

        What is listed of the network counts at once. A network that was switched on, mirrors and
        certificates count from the next sandbox on, which the agent gets when it next begins to
        work and nothing runs in the old one.
        """
        self.network.settings_changed(settings)
        self._runtime.network = self.network.way_out

    def rename(self, title: str) -> None:
        """Give the session a title; it is kept beside the log, so it is masked as the log is."""
        title = self.stream.masker.text(title)
        self._info = msgspec.structs.replace(self._info, title=title)
        self._name_kernel()
        self.keeping.announce()

    async def diagnosis(self) -> Diagnosis:
        """What the session waits for, for how long, and what can be done about it."""
        (newest,) = self.stream.read(order="desc", limit=1)
        return await diagnose(self.controller, newest, self._runtime.programs)

    async def packages_size(self) -> int:
        """Bytes that the packages take which were installed in sandboxes on this workspace."""
        return await asyncio.to_thread(packages.size_of, self._home, self._workspace)

    async def remove_packages(self) -> None:
        """Remove the packages that were installed in sandboxes on this workspace.

        Raises
        ------
        Conflict
            When the agent works, here or in another session on it.
        """
        if not await self.controller.sandbox.renew("The person removed the installed packages."):
            raise Conflict(
                "packages_in_use",
                "The agent is at work and may use the installed packages.",
                "Stop it first.",
            )
        await asyncio.to_thread(packages.remove, self._home, self._workspace)

    async def close(self, reason: str = "The server was shut down.") -> None:
        """Stop what runs, end the sandbox, have everything on the disk."""
        if self._closed:
            return
        try:
            await self.controller.close(reason)
        finally:
            self._closed = True
            self.keeping.end()
            await self._mcp.close()
            await self.stream.close()
            await self.keeping.close()

    def _name_kernel(self) -> None:
        if self._kernel_host is not None:
            self._kernel_host.rename(self._info.title)

    def _on_event(self, event: Event) -> None:
        if not isinstance(event, SandboxReleasedObservation):
            self.touch()
            updated = event.time or self._info.updated
            self._info = msgspec.structs.replace(self._info, updated=updated)
        if isinstance(
            event,
            AgentDelegateAction
            | AgentDelegateObservation
            | AgentStateChangedObservation
            | ChangeSettingsAction
            | IsolationObservation
            | LimitWarningObservation
            | TaskTrackingAction,
        ):
            self.keeping.announce()


_SETTLED = frozenset({"awaiting_user_input", "paused", "finished", "rejected", "stopped", "error"})
"""States that a session is in again after it was closed and opened."""


def _title_of(content: str) -> str:
    line = " ".join(content.split())
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1] + "…"
