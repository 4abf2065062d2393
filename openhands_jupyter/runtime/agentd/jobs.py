"""Background jobs, as bash lists them."""

from __future__ import annotations

import re
from typing import Any

MOST_JOBS = 50
LONGEST_COMMAND = 500

# What `jobs -l` writes: number, mark of the current job, process, state in a column, command.
_JOB = re.compile(r"\[(\d+)\][+ -] +(\d+) (\S.*?)(?: {2,}(.*))?$")
_GOING_ON = ("running", "stopped")


def parse_jobs(listing: str) -> list[dict[str, Any]]:
    """The jobs that a listing in English tells of, at most `MOST_JOBS`.

    Returns
    -------
    list
        For each its ``id``, ``pid``, ``status`` and ``command``.
    """
    found: list[dict[str, Any]] = []
    for line in listing.split("\n"):
        match = _JOB.match(line)
        if match is not None and len(found) < MOST_JOBS:
            number, pid, status, command = match.groups(default="")
            found.append(
                {
                    "id": int(number),
                    "pid": int(pid),
                    "status": status.lower(),
                    "command": command[:LONGEST_COMMAND],
                }
            )
    return found


def with_ended(
    jobs: list[dict[str, Any]], before: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Add the jobs that were there before and are not any more: bash has told of their end itself.

    Returns
    -------
    tuple
        All of them, in order; and those of them that go on.
    """
    listed = {job["pid"] for job in jobs}
    gone = [{**job, "status": "ended"} for job in before if job["pid"] not in listed]
    going_on = [job for job in jobs if job["status"].startswith(_GOING_ON)]
    return sorted([*jobs, *gone], key=lambda job: job["id"]), going_on
