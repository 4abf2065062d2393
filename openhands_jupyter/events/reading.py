"""Reading a session's log without holding the session: another process may be writing it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .codec import decode
from .event import Event

LOG_FILE = "events.jsonl"


def read_log(folder: Path) -> Iterator[Event]:
    """The events of a session as they are in the file now, oldest first.

    Parameters
    ----------
    folder
        The session's folder. A last line that is not whole is left out: it is being written, or
        was when the power failed.

    Raises
    ------
    OSError
        When there is no log, or it cannot be read.
    msgspec.DecodeError
        When a line is no event.
    """
    with (folder / LOG_FILE).open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield decode(line)
