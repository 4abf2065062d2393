"""Runs code in a person's kernel beside their names: it sees them, and leaves none of its own.

It works on a copy of their namespace. What their objects hold is not copied, and can be changed.
"""

from __future__ import annotations

import ast
import sys
import time
from typing import Any

MIME = "application/vnd.openhands.told+json"
"""Under which it tells what became of the names."""

LAST_ERROR = ("last_type", "last_value", "last_traceback", "last_exc")

names: dict[str, Any] = globals()["names"]
asked: dict[str, Any] = globals()["asked"]


def run() -> None:
    """Run the code, unless it is too late for that, and tell of names."""
    shell = sys.modules["IPython"].get_ipython()
    told: dict[str, Any] = {"late": time.time() > asked["until"]}
    if not told["late"]:
        before, scratch = names.copy(), names.copy()
        told["ok"] = execute(shell, scratch)
        told["changed"] = changed(before)
        told["kept"] = [name for name in asked["keep"] if told["ok"] and name in scratch]
        names.update({name: scratch[name] for name in told["kept"]})
    shell.display_pub.publish(data={MIME: told}, metadata={})


def execute(shell: Any, scratch: dict[str, Any]) -> bool:
    """Run the code, and show what its last expression gives; whether that went well."""
    try:
        code = shell.transform_cell(asked["code"])
        file = shell.compile.cache(code, 0)
        tree = ast.parse(code, file)
        last = tree.body[-1] if tree.body else None
        if isinstance(last, ast.Expr):
            tree.body.pop()
        exec(compile(tree, file, "exec", dont_inherit=True), scratch)
        if isinstance(last, ast.Expr):
            expression = ast.Expression(last.value)
            value = eval(compile(expression, file, "eval", dont_inherit=True), scratch)
            if value is not None and not code.rstrip().endswith(";"):
                sys.modules["IPython.display"].display(value)
    except BaseException as error:
        show(shell, error)
        return False
    return True


def show(shell: Any, error: BaseException) -> None:
    """Show an error as IPython does, but leave the person's last one where it is."""
    kept = {name: getattr(sys, name) for name in LAST_ERROR if hasattr(sys, name)}
    place = error.__traceback__
    # Without the frame above.
    shell.showtraceback((type(error), error, place and (place.tb_next or place)), tb_offset=0)
    for name in LAST_ERROR:
        if name in kept:
            setattr(sys, name, kept[name])
        elif hasattr(sys, name):
            delattr(sys, name)


def changed(before: dict[str, Any]) -> list[str]:
    """The names that are bound otherwise than before, such as by a function of the person's."""
    nothing = object()
    return sorted(
        name
        for name in {**before, **names}
        if type(name) is str and not name.startswith("_")
        if before.get(name, nothing) is not names.get(name, nothing)
    )


run()
