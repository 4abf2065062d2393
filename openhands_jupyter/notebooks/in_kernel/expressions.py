"""What is sent to a kernel so that it does what a module of this package says."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Literal

import msgspec

from ...events import KernelInspectAction

Snippet = Literal["scratch", "existing", "describing", "environment", "copying", "bindings"]

BEFORE: dict[Snippet, tuple[str, ...]] = {
    "describing": ("kinds",),
    "environment": ("kinds",),
    "copying": ("kinds",),
    "bindings": ("kinds",),
}
"""What a module needs in its namespace."""


def expression(snippet: Snippet, asked: Mapping[str, Any], *, kept: bool = False) -> str:
    """Code that does what a module of this package says.

    Parameters
    ----------
    snippet
        Name of the module.
    asked
        What it is asked: texts, numbers and lists of these.
    kept
        Whether the kernel keeps what it has compiled, in ``sys``, for the next time: compiling
        takes thirty times as long as what is done. Only for kernels of our own.

    Returns
    -------
    str
        An expression, so that no name is left behind; its value is what the module leaves in
        ``told``.
    """
    space = f"{{'names': globals(), 'asked': {dict(asked)!r}}}"
    sources = [_source(name) for name in (*BEFORE.get(snippet, ()), snippet)]
    if kept:
        return _KEPT.format(name=f"_openhands_{snippet}", sources=sources, space=space)
    run = ", ".join(f"e({source!r}, s)" for source in sources)
    return f"(lambda e, s: ({run}, s.get('told'))[-1])(__import__('builtins').exec, {space})"


_KEPT = (
    "(lambda b, k, s: ([b.exec(c, s) for c in k.get({name!r}) or k.setdefault({name!r},"
    " [b.compile(c, '<openhands>', 'exec') for c in {sources!r}])], s.get('told'))[-1])"
    "(__import__('builtins'), __import__('sys').__dict__, {space})"
)


def questions(action: KernelInspectAction) -> dict[str, Any]:
    """What `describing` is asked by an action."""
    return {"names": action.names, "query": action.query, "depth": action.depth}


def told_in(text: str) -> Any:
    """What a module told, which may be anything: it comes from outside.

    Parameters
    ----------
    text
        What the expression gave: base64 of JSON, in ASCII.

    Raises
    ------
    ValueError
        When it is something else.
    """
    try:
        return msgspec.json.decode(base64.b64decode(text))
    except RecursionError:
        raise ValueError("nested too deeply") from None


@cache
def _source(snippet: str) -> str:
    return resources.files(__package__).joinpath(f"{snippet}.py").read_text()
