"""Finding lines: a program of its own, because an expression may never come to an end.

It reads a request as JSON from its standard input: ``pattern``, ``texts``, ``most``, the number of
lines to be told, and ``seconds`` of the processor, after which the system ends it. Each of these
lines is written at once, so that they are there even then: number of the text, of the line (from
1), and of the first character that fits. Last comes ``total`` with the number of all.
"""

from __future__ import annotations

import json
import re
import resource
import sys

MEMORY = 1_000_000_000
"""Bytes of address space."""

WRONG_PATTERN = 3
TOO_MUCH_MEMORY = 4
"""Exit codes."""


def main() -> int:
    """Answer the request; the exit code."""
    limit(resource.RLIMIT_AS, MEMORY)
    limit(resource.RLIMIT_CORE, 0)
    try:
        request = json.load(sys.stdin)
        limit(resource.RLIMIT_CPU, request["seconds"])
        try:
            expression = re.compile(request["pattern"])
        except (re.error, OverflowError, RecursionError) as error:
            print(error)
            return WRONG_PATTERN
        find(expression, request["texts"], request["most"])
    except MemoryError:
        return TOO_MUCH_MEMORY
    return 0


def limit(kind: int, value: int) -> None:
    """Limit a resource, or leave it where it is lower already."""
    _, most = resource.getrlimit(kind)
    value = value if most == resource.RLIM_INFINITY else min(value, most)
    resource.setrlimit(kind, (value, value))


def find(expression: re.Pattern[str], texts: list[str], most: int) -> None:
    """Write where the expression fits."""
    total = 0
    for number, text in enumerate(texts):
        for line, content in enumerate(text.split("\n"), 1):
            if found := expression.search(content):
                total += 1
                if total <= most:
                    print(number, line, found.start(), flush=True)
    print("total", total)


if __name__ == "__main__":
    sys.exit(main())
