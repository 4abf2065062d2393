"""How much a session may take, and what of that no other fold counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from .actions import ChangeSettingsAction
from .event import Event
from .observations import AgentState, AgentStateChangedObservation
from .warnings import LimitKind, LimitWarningObservation

DEFAULT_STEP_LIMIT = 100

WORKING: frozenset[AgentState] = frozenset({"running", "rate_limited"})
"""States whose time is time of work: nobody waits for the person."""


@dataclass
class Limits:
    """What a session may take, what it was warned of, and how long it has worked.

    Attributes
    ----------
    steps
        Agent steps.
    cost
        US dollars; 0 for no limit.
    tokens
        Tokens of all models; 0 for no limit.
    time
        Minutes of work; 0 for no limit.
    stuck_detection
        Whether an agent that does the same again and again is stopped.
    warned
        The limits that the person was warned of.
    worked
        Seconds of work until the agent last stopped working.
    """

    steps: int = DEFAULT_STEP_LIMIT
    cost: float = 0.0
    tokens: int = 0
    time: float = 0.0
    stuck_detection: bool = True
    warned: dict[LimitKind, float] = field(default_factory=dict)
    worked: float = 0.0
    _working_since: datetime | None = None
    _newest: datetime | None = None

    @property
    def unfinished_work(self) -> float:
        """Seconds of work, by the events, that nothing on the log counts yet."""
        if self._working_since is None or self._newest is None:
            return 0.0
        return max(0.0, (self._newest - self._working_since).total_seconds())

    def apply(self, event: Event) -> None:
        """Fold in the next event of the log."""
        self._newest = event.time
        match event:
            case ChangeSettingsAction():
                self._change(event)
            case LimitWarningObservation():
                self.warned[event.limit] = event.allowed
            case AgentStateChangedObservation():
                if event.worked is not None:
                    self.worked = event.worked
                if event.state not in WORKING:
                    self._working_since = None
                elif self._working_since is None:
                    self._working_since = event.time

    def _change(self, event: ChangeSettingsAction) -> None:
        if event.step_limit is not None:
            self.steps = event.step_limit
        if event.cost_limit is not None:
            self.cost = event.cost_limit
        if event.token_limit is not None:
            self.tokens = event.token_limit
        if event.time_limit is not None:
            self.time = event.time_limit
        if event.stuck_detection is not None:
            self.stuck_detection = event.stuck_detection
