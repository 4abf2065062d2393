"""Task of the tour: delete the temporary files, which asks the person for approval."""

from __future__ import annotations

import fnmatch
import re
import shlex
from pathlib import PurePosixPath

from .conversation import Result
from .script import Call, Reply, Script, block, call, finish, inline, reply, setback

PATTERNS = ("*.tmp", "*.temp", "*.bak", "*.swp", "*~")
LISTING = (
    "find . -maxdepth 3 -type f -not -path '*/.*/*' '('"
    + " -o".join(f" -name '{pattern}'" for pattern in PATTERNS)
    + " ')' | sort"
)
PRACTICE_FILE = "practice.tmp"
PRACTICE_REQUEST = "Create a temporary file and delete it"
_CREATES = re.compile(r"\b(create|make|write|add)\b", re.IGNORECASE)


def delete_temporary_files(request: str) -> Script:
    """Find the temporary files, ask to delete them, and look whether they are gone."""
    if _CREATES.search(request):
        (made,) = yield reply(
            f"First I make a practice file, `{PRACTICE_FILE}`.",
            call(
                "write_file",
                path=PRACTICE_FILE,
                content="A file that is here to be deleted.\n",
                security_risk="low",
            ),
        )
        if problem := setback(made, f"writing `{PRACTICE_FILE}`"):
            return finish(problem)

    (listing,) = yield reply("I look for temporary files first; that changes nothing.", _list())
    if problem := _listing_problem(listing):
        return finish(problem)
    found = _temporary(listing)
    if not found:
        return _nothing_there()

    command = "rm -- " + " ".join(shlex.quote(path) for path in found)
    (removed,) = yield reply(
        f"I found {_named(found)}. Deleting cannot be undone, so I ask you first.",
        call("execute_bash", command=command, security_risk="high"),
    )
    if removed.outcome in ("rejected", "refused"):
        return _kept(found, removed)

    (after,) = yield reply("I look whether they are gone.", _list())
    return _report(found, removed, after)


def _list() -> Call:
    return call("execute_bash", command=LISTING, security_risk="low")


def _temporary(listing: Result) -> list[str]:
    """Pick the files out of the listing, and nothing that only looks like a line of it."""
    paths = [line.removeprefix("./") for line in listing.text.splitlines() if line[:2] == "./"]
    return [
        path
        for path in paths
        if any(fnmatch.fnmatchcase(PurePosixPath(path).name, pattern) for pattern in PATTERNS)
    ]


def _listing_problem(listing: Result) -> str:
    if problem := setback(listing, "the search for temporary files"):
        return problem
    if listing.exit_code not in (0, None):
        return f"I could not look for temporary files:\n\n{block(listing.text)}"
    return ""


def _nothing_there() -> Reply:
    kinds = ", ".join(inline(pattern) for pattern in PATTERNS)
    return finish(
        f"There are no temporary files here ({kinds}), so there is nothing to delete.\n\n"
        f"To see how an approval works, say: **{PRACTICE_REQUEST}**."
    )


def _kept(found: list[str], removed: Result) -> Reply:
    if removed.outcome == "refused":
        return finish(f"Nothing was deleted. {setback(removed, 'the deletion')}")
    heard = f"You said: “{removed.reason}” " if removed.reason else ""
    return finish(
        f"All right, nothing was deleted. {heard}{_named(found)} {_are(found)} still there."
    )


def _report(found: list[str], removed: Result, after: Result) -> Reply:
    problem = setback(removed, "the deletion")
    if not problem and removed.exit_code != 0:
        problem = f"`rm` ended with exit code {removed.exit_code}:\n\n{block(removed.text)}"
    if unseen := _listing_problem(after):
        return finish(f"{problem}\n\nI could not check what is left. {unseen}".strip())
    left = [path for path in found if path in _temporary(after)]
    if left:
        return finish(f"{_named(left)} {_are(left)} still there. {problem}".strip())
    return finish(
        f"{problem}\n\nI looked again: {_named(found)} {_are(found)} gone.".strip()
        if problem
        else f"Deleted {_named(found)}, and looked again: {_are(found, 'it is', 'they are')} gone."
    )


def _named(paths: list[str], limit: int = 8) -> str:
    shown = [inline(path) for path in paths[:limit]]
    if len(paths) > limit:
        shown.append(f"{len(paths) - limit} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _are(paths: list[str], one: str = "is", many: str = "are") -> str:
    return one if len(paths) == 1 else many
