"""The tasks that the tour understands, and how it recognises them."""

from __future__ import annotations

import re

from .csv_plot import load_and_plot
from .explain import explain, greet
from .failing_cell import find_out
from .fibonacci import fibonacci
from .script import Task
from .showcase import show_around
from .temporary_files import delete_temporary_files
from .tidying import tidy_notebook

LONGEST = 2_000
"""Characters of a request that are looked at."""

_DELETES = r"\b(delete|remove|erase|clean|clear|tidy|purge|get rid of|throw away|rm)\b"
_PLOTS = r"\b(plot|chart|graph|draw|diagram|figure|visuali[sz]e)"

_TASKS: tuple[tuple[re.Pattern[str], Task], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), task)
    for pattern, task in (
        (r"\bfib(onacci)?\b", fibonacci),
        (r"\A(?=.*\b(tidy|clean|organi[sz]e)\b)(?=.*\bnotebooks?\b)", tidy_notebook),
        (r"\b(why|fix|mend)\b.*\bcell\b", find_out),
        (
            rf"\A(?=.*{_DELETES})(?=.*\b(temp|temporary|tmp|backups?|junk|leftovers?)\b"
            r"|.*\.(tmp|temp|bak)\b)",
            delete_temporary_files,
        ),
        (
            rf"\A(?=.*{_PLOTS})(?=.*\b(csv|data|table|spreadsheet)\b|.*\.csv\b)"
            r"|\b(load|open|read|show)\b.*\bcsv\b",
            load_and_plot,
        ),
        (
            r"\b(tour|demo|show me (around|what)|what (can|do) you (do|offer)"
            r"|how (does|do) (this|you) work)\b",
            show_around,
        ),
    )
)
_GREETING = re.compile(
    r"\W*(hi|hello|hey|hallo|good (morning|afternoon|evening|day)|greetings|howdy)\b[^?]{0,30}",
    re.IGNORECASE,
)


def recognise(request: str) -> Task | None:
    """Find the task that a request asks for; None if the tour does not understand it."""
    begin = request[:LONGEST]
    return next((task for pattern, task in _TASKS if pattern.search(begin)), None)


def task_for(request: str) -> Task:
    """Find what to answer to a request, whatever it is."""
    if task := recognise(request):
        return task
    return greet if _GREETING.fullmatch(request[:LONGEST].strip()) else explain
