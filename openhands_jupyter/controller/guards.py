"""What pauses the agent by itself: limits that are reached, and that it gets nowhere."""

from __future__ import annotations

from ..events import Event, LimitWarningObservation
from .limits import CODES, NAMES, LimitUse, reason_to_pause, to_warn_of, uses_of
from .log import Log
from .stuck import StuckDetector


class Guards:
    """Looks before each step whether the agent may take it.

    Parameters
    ----------
    log
        What it is about; the person and the agent are warned there.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._stuck = StuckDetector()

    def apply(self, event: Event) -> None:
        """Take in the next event of the log."""
        self._stuck.apply(event)

    def uses(self) -> list[LimitUse]:
        """What the session has used of what it may take."""
        return uses_of(self._log.state, self._log.worked())

    def pause(self) -> bool:
        """Pause the session if that has to be, and warn if it will; whether it is paused."""
        return self._limit_reached() or self._is_stuck()

    def _limit_reached(self) -> bool:
        uses = self.uses()
        for use in to_warn_of(self._log.state, uses):
            self._log.stream.append(
                LimitWarningObservation(limit=use.limit, used=use.used, allowed=use.allowed)
            )
        reached = next((use for use in uses if use.reached), None)
        if reached is None:
            return False
        self._log.set_state(
            "paused",
            reason_to_pause(reached),
            code=CODES[reached.limit],
            hint=f"Raise the session's {NAMES[reached.limit]} and press run to go on.",
        )
        return True

    def _is_stuck(self) -> bool:
        if not self._log.state.limits.stuck_detection or (found := self._stuck.check()) is None:
            return False
        self._log.stream.append(found)
        if found.stopped:
            self._log.set_state(
                "paused",
                "The agent does the same again and again.",
                code="stuck",
                hint="Go back to before that, give the agent a hint, or stop.",
            )
        return found.stopped
