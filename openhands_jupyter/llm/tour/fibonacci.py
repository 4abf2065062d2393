"""Task of the tour: write a script that computes Fibonacci numbers, and run it."""

from __future__ import annotations

import re

from .conversation import Result
from .script import Reply, Script, block, call, finish, reply, setback

FILE = "fib.py"
CODE = '''\
"""Print the first Fibonacci numbers: python fib.py [how many]"""

import sys


def fibonacci(count):
    """Return the first `count` Fibonacci numbers, starting with 0 and 1."""
    numbers = []
    current, following = 0, 1
    for _ in range(count):
        numbers.append(current)
        current, following = following, current + following
    return numbers


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print(*fibonacci(count), sep=", ")
'''
_COUNT = re.compile(r"\bfirst (\d{1,3})\b", re.IGNORECASE)
_COMMAND_NOT_FOUND = 127


def fibonacci(request: str) -> Script:
    """Write the script, run it, and say what it printed."""
    (written,) = yield reply(
        f"I will write a short script, `{FILE}`, and then run it.",
        call("write_file", path=FILE, content=CODE, security_risk="low"),
    )
    if problem := setback(written, f"writing `{FILE}`"):
        return finish(problem)

    wanted = _COUNT.search(request)
    command = f"python {FILE} {wanted[1]}" if wanted else f"python {FILE}"
    (run,) = yield reply(
        "Now I run it.", call("execute_bash", command=command, security_risk="low")
    )
    if run.exit_code == _COMMAND_NOT_FOUND:
        command = command.replace("python", "python3", 1)
        (run,) = yield reply(
            "There is no command `python` here, so I try `python3`.",
            call("execute_bash", command=command, security_risk="low"),
        )
    return _report(written, run, command)


def _report(written: Result, run: Result, command: str) -> Reply:
    if problem := setback(run, f"running `{command}`"):
        return finish(f"`{FILE}` is written. {problem}")
    if run.exit_code != 0:
        return finish(
            f"I wrote `{FILE}`, but `{command}` failed with exit code {run.exit_code}:\n\n"
            f"{block(run.text)}\n\nI am the guided tour and cannot look further into it."
        )
    numbers = re.findall(r"\d+", run.text)
    replaced = "" if written.text.startswith("Created") else " (it replaces the one that was there)"
    summary = (
        f"I wrote `{FILE}`{replaced} and ran it. It printed {len(numbers)} Fibonacci numbers"
        + (f", up to {numbers[-1]}" if numbers else "")
    )
    return finish(
        f"{summary}:\n\n{block(run.text)}\n\nTry `python {FILE} 30` for more of them.",
    )
