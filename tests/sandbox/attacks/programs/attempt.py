"""Runs one attack inside the sandbox: attempt.py PROGRAM ARGUMENT WORLD.

The last line that it prints is JSON: whether the attack worked as far as it can tell itself, and
what it got or what stopped it. What is not an OSError is a fault of the attack, and not an answer.
"""

import importlib
import json
import sys


def main() -> None:
    """Attack."""
    program, argument, world = sys.argv[1:]
    with open(world, encoding="utf-8") as file:
        known = json.load(file)
    try:
        got = importlib.import_module(program).attack(known, argument)
    except OSError as error:
        got, detail = None, f"{type(error).__name__}: {error}"
    else:
        detail = got or "nothing came of it"
    print("\n" + json.dumps({"worked": got is not None, "detail": detail[-20000:]}))


main()
