"""What is said of a sandbox elsewhere: little can be known of it from here."""

from __future__ import annotations

from typing import Any

import msgspec

from ...events import Check, IsolationLevel, IsolationObservation
from ..isolation import ESSENTIAL
from ..launch import Elsewhere

TRIED = (
    "read a secret file",
    "write outside the workspace",
    "connect to a socket of the server",
    "connect to an abstract socket",
    "see the server's processes",
    "read the server's memory",
    "signal the server",
)
"""Attempts that succeed only if the other machine is this one; no others are made there."""


def verdict(place: Elsewhere, results: Any) -> IsolationObservation:
    """Say what is known.

    Parameters
    ----------
    place
        Where it is.
    results
        Of the self-test there, for what is `TRIED`.
    """
    checks = msgspec.convert(results, list[Check])
    reached = [check.name for check in checks if not check.held and check.name in ESSENTIAL]
    at = f"The work is done in {place.folder} ({place.about})."
    if reached:
        level: IsolationLevel = "red"
        summary = f"Not isolated: the gateway runs on this machine, and the agent can {reached[0]}."
    else:
        level = "amber"
        summary = f"Runs on {place.host}: what isolates it there is that side's business."
        at += f" The files of this machine are not on {place.host}, nor do files come back."
    return IsolationObservation(
        level=level,
        backend="gateway",
        summary=summary,
        notice=at,
        checks=checks,
        missing=[
            f"what the code can read, change and reach on {place.host}, which nobody tested",
            "limits on memory, processes, processors and disk, and the setting for the network",
            "write protection of files that you execute later, and undo through checkpoints",
        ],
        workspace=place.folder,
    )
