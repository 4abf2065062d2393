"""The state of a session: a fold over its events, one event at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

from .actions import (
    ChangeAgentStateAction,
    ChangeSettingsAction,
    ConfirmationAction,
    Mode,
    NetworkAccessAction,
    SystemMessageAction,
    Task,
    TaskTrackingAction,
    UserMessageAction,
)
from .agents import (
    DEEPEST_DELEGATION,
    DEFAULT_AGENT,
    AgentDelegateAction,
    AgentDelegateObservation,
    Delegation,
    PlanHandOverObservation,
)
from .checkpoints import (
    CheckpointObservation,
    FilesRestoredObservation,
    NoCheckpointObservation,
    ReplayObservation,
    RewindAction,
    UndoAction,
)
from .event import Action, Event, Observation
from .hooks import HookObservation
from .ledger import Ledger
from .limits import Limits
from .memory import CondensationAction, QuarantineAction
from .notebook_runs import DryRunAction
from .observations import (
    AgentState,
    AgentStateChangedObservation,
    ErrorObservation,
    IsolationObservation,
    ModelNoticeObservation,
    ModelUsageObservation,
    NetworkRefusedObservation,
    SandboxReleasedObservation,
)
from .running import CmdOutputObservation, CmdRunAction
from .skills_told import SkillsTold
from .turns import FileHistory
from .warnings import StuckObservation

_NOT_FOR_THE_MODEL = (
    AgentStateChangedObservation,
    ChangeAgentStateAction,
    ChangeSettingsAction,
    CheckpointObservation,
    ConfirmationAction,
    DryRunAction,
    IsolationObservation,
    ModelNoticeObservation,
    ModelUsageObservation,
    NoCheckpointObservation,
    SandboxReleasedObservation,
    SystemMessageAction,
)

_RESTORES = (UndoAction, RewindAction, FilesRestoredObservation, ReplayObservation)


@dataclass
class State:
    """What the events so far amount to.

    Only `apply` changes it, in time that does not depend on how many events came before.

    Attributes
    ----------
    last_id
        Id of the newest event folded in; -1 before the first.
    agent_state, change
        Where the session stands, and the event that says so; None before the first.
    mode, model, agent
        The session's settings.
    limits
        What it may take, and how much of that is used as far as ``steps`` and ``spent`` do not say.
    stuck
        The loop that the agent was stopped in; None where it was not, or went on since.
    steps
        Agent steps taken: model responses, or actions of agents that use no model.
    open_calls
        Runnable actions, undos, rewinds and dry runs without an observation, by id.
    decisions
        What the person decided, by action id; the first decision counts.
    queued
        Ids of user messages that the agent has not seen yet: newer than the ``cause`` of its
        latest action.
    history
        The events that the prompt of the agent at work is built from, oldest first. A delegate's
        begins with the action that gave it its task.
    delegations
        The tasks that delegates work on for each other; only the last one acts.
    plan
        The plan of the agent at work, as last stated.
    allowed_places
        Host and port of what the person allowed for the whole session, in the order of that.
    secrets
        Names of the secrets that the person allowed into the sandbox.
    spent
        Tokens and money over all model calls.
    isolation
        The newest sandbox; None before the first.
    running_command
        The command that was left running in the shell; None if none was.
    files
        The states of the workspace's files that were kept.
    skills
        The instructions and skills that agents were given.
    """

    last_id: int = -1
    agent_state: AgentState = "loading"
    change: AgentStateChangedObservation | None = None
    mode: Mode = "agent"
    model: str = ""
    agent: str = DEFAULT_AGENT
    limits: Limits = field(default_factory=Limits)
    stuck: StuckObservation | None = None
    steps: int = 0
    open_calls: dict[int, Action] = field(default_factory=dict)
    decisions: dict[int, ConfirmationAction] = field(default_factory=dict)
    queued: list[int] = field(default_factory=list)
    history: list[Event] = field(default_factory=list)
    delegations: list[Delegation] = field(default_factory=list)
    plan: list[Task] = field(default_factory=list)
    allowed_places: dict[tuple[str, int], None] = field(default_factory=dict)
    secrets: list[str] = field(default_factory=list)
    spent: Ledger = field(default_factory=Ledger)
    isolation: IsolationObservation | None = None
    asleep: bool = False
    running_command: str | None = None
    last_response_id: str = ""
    has_system_message: bool = False
    files: FileHistory = field(default_factory=FileHistory)
    skills: SkillsTold = field(default_factory=SkillsTold)

    @property
    def acting(self) -> str:
        """Name of the agent at work."""
        return self.delegations[-1].action.agent if self.delegations else self.agent

    @property
    def may_delegate(self) -> bool:
        """Whether the agent at work may give a task to another one."""
        return len(self.delegations) < DEEPEST_DELEGATION

    @property
    def agent_path(self) -> list[int]:
        """What led to the agent at work; see `Event.agent_path`."""
        return [delegation.action.id for delegation in self.delegations]

    @property
    def pending_confirmation(self) -> int | None:
        """Id of the action that waits for the person's decision; None if none does."""
        if self.agent_state != "awaiting_user_confirmation":
            return None
        return next(
            (
                id
                for id, action in self.open_calls.items()
                if action.runnable and id not in self.decisions
            ),
            None,
        )

    def apply(self, event: Event) -> None:
        """Fold in the next event of the log."""
        self.last_id = event.id
        self.files.apply(event)
        self.limits.apply(event)
        self.skills.apply(event)
        told = not isinstance(event, _NOT_FOR_THE_MODEL) and not self._answers_dry_run(event)
        if isinstance(event, Observation):
            self._apply_observation(event)
        elif isinstance(event, Action):
            self._apply_action(event)
        if told:
            self.history.append(event)
        if isinstance(event, AgentDelegateAction) and self.may_delegate:
            self._begin_delegation(event)

    def _answers_dry_run(self, event: Event) -> bool:
        if not isinstance(event, Observation) or event.cause is None:
            return False
        return isinstance(self.open_calls.get(event.cause), DryRunAction)

    def _apply_observation(self, event: Observation) -> None:
        match event:
            case AgentStateChangedObservation():
                self.agent_state, self.change = event.state, event
                if event.state != "paused":
                    self.stuck = None
                if event.state == "stopped":
                    self.running_command = None
            case ModelUsageObservation():
                self.spent.add(event)
            case StuckObservation():
                self.stuck = event if event.stopped else None
            case SandboxReleasedObservation():
                self.isolation, self.asleep = None, True
                self.running_command = None
            case IsolationObservation():
                self.isolation, self.asleep = event, False
                # What ran in a sandbox is gone when there is another one.
                self.running_command = None
            case NetworkRefusedObservation() | HookObservation():
                # Its cause is an action that it does not answer.
                pass
            case _ if event.cause is not None:
                if isinstance(event, AgentDelegateObservation | ErrorObservation):
                    self._end_delegation(event.cause)
                answered = self.open_calls.pop(event.cause, None)
                if isinstance(event, PlanHandOverObservation):
                    self._change_agent(event.agent)
                if isinstance(event, CmdOutputObservation):
                    self._note_command(event, answered)

    def _change_agent(self, name: str) -> None:
        if name != self.agent:
            # Another one is introduced to its work anew.
            introduced = self.delegations[0] if self.delegations else self
            introduced.has_system_message = False
        self.agent = name

    def _begin_delegation(self, action: AgentDelegateAction) -> None:
        self.delegations.append(
            Delegation(
                action, self.history, self.plan, self.last_response_id, self.has_system_message
            )
        )
        self.history, self.plan = [action], []
        self.last_response_id, self.has_system_message = "", False

    def _end_delegation(self, id: int) -> None:
        """Have its delegator at work again, if `id` is that of a task that is worked on.

        Of the delegate's history the delegator gets what it cannot do without: messages that
        nobody has read, and what was taken back.
        """
        path = self.agent_path
        if id not in path:
            return
        kept = [event for event in self.history if self._concerns_all(event)]
        ended = self.delegations[path.index(id)]
        del self.delegations[path.index(id) :]
        self.history, self.plan = ended.history, ended.plan
        self.last_response_id = ended.last_response_id
        self.has_system_message = ended.has_system_message
        self.history.extend(kept)

    def _concerns_all(self, event: Event) -> bool:
        return event.id in self.queued or isinstance(event, _RESTORES)

    def _note_command(self, event: CmdOutputObservation, answered: Action | None) -> None:
        if not event.running:
            self.running_command = None
        elif isinstance(answered, CmdRunAction) and answered.command and not answered.is_input:
            self.running_command = answered.command

    def _apply_action(self, event: Action) -> None:
        if event.source == "agent" and not isinstance(event, SystemMessageAction):
            self._count_step(event)
        if event.runnable or isinstance(event, UndoAction | RewindAction | DryRunAction):
            self.open_calls[event.id] = event
        match event:
            case UserMessageAction():
                self.queued.append(event.id)
            case ConfirmationAction() if event.cause in self.open_calls:
                self.decisions.setdefault(event.cause, event)
            case ChangeSettingsAction():
                self.mode = event.mode or self.mode
                self.model = event.model or self.model
                if event.agent:
                    self._change_agent(event.agent)
                if event.secrets is not None:
                    self.secrets = event.secrets
            case NetworkAccessAction(access="session"):
                self.allowed_places[event.host, event.port] = None
            case NetworkAccessAction(access="revoked"):
                self.allowed_places.pop((event.host, event.port), None)
            case RewindAction():
                self.running_command = None
            case TaskTrackingAction():
                self.plan = event.tasks
            case SystemMessageAction():
                self.has_system_message = True

    def _count_step(self, event: Action) -> None:
        if isinstance(event, CondensationAction):
            return
        seen = event.cause if event.cause is not None else self.last_id
        self.queued = [id for id in self.queued if id > seen]
        if isinstance(event, QuarantineAction):
            return
        response_id = event.llm.response_id if event.llm else ""
        if response_id and response_id == self.last_response_id:
            return
        self.steps += 1
        self.last_response_id = response_id
