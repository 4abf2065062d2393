"""What it means that a sandbox died, or something in it; and when to wait for the reason."""

from __future__ import annotations

import re
import signal

from ..events import CmdOutputObservation, Interruption, IPythonOutputObservation, Observation
from .watch import printed_at_end

PATIENCE = 1.0
"""Seconds that such news may take."""

_KILLED = 128 + signal.SIGKILL
_TELLS_OF_KILLING = re.compile(rf"\b(Killed|SIGKILL|{_KILLED})\b|-{signal.SIGKILL.value}\b")


def died(observation: Observation) -> bool:
    """Whether something seems to have died in an action, for a reason that is not seen inside."""
    if not isinstance(observation, CmdOutputObservation | IPythonOutputObservation):
        return False
    if observation.interrupted in ("stopped", "timeout"):
        # It was ended from here, and a stop must not wait.
        return False
    if isinstance(observation, CmdOutputObservation) and observation.exit_code == _KILLED:
        return True
    return observation.interrupted in ("kernel_died", "sandbox_died") or bool(
        _TELLS_OF_KILLING.search(printed_at_end(observation))
    )


def how_it_died(error: Exception, stopped: bool) -> Interruption:
    """What a sandbox that gave no answer did to an action.

    Parameters
    ----------
    error
        What came instead of the answer.
    stopped
        Whether somebody wanted the action to stop.
    """
    if stopped:
        return "stopped"
    return "timeout" if isinstance(error, TimeoutError) else "sandbox_died"
