"""Asks a kernel something by fixed code, without a trace; whoever uses it does not notice."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Literal

import msgspec

from ..running.kernels import Attachment

Snippet = Literal["scratch", "existing", "describing"]


class NoAnswer(Exception):
    """The kernel did not answer in time, or not as it should."""


def expression(snippet: Snippet, asked: Mapping[str, Any]) -> str:
    """Code that does what a module of this package says.

    Parameters
    ----------
    snippet
        Name of the module.
    asked
        What it is asked: texts, numbers and lists of these.

    Returns
    -------
    str
        An expression, so that no name is left behind; its value is what the module leaves in
        ``told``.
    """
    space = f"{{'names': globals(), 'asked': {dict(asked)!r}}}"
    run = f"__import__('builtins').exec({_source(snippet)!r}, s)"
    return f"(lambda s: ({run}, s.get('told'))[1])({space})"


async def ask(kernel: Attachment, snippet: Snippet, asked: Mapping[str, Any], within: float) -> Any:
    """Have a module of this package answer in an idle kernel of Python's.

    Parameters
    ----------
    kernel
        The kernel.
    snippet, asked
        As with `expression`.
    within
        Seconds for the answer.

    Returns
    -------
    Any
        What was told, which may be anything: it comes from outside.

    Raises
    ------
    NoAnswer
        When there was none.
    """
    code = expression(snippet, {**asked, "until": time.time() + within})
    client = kernel.client()
    client.start_channels(iopub=False, stdin=False, hb=False)
    try:
        async with asyncio.timeout(within):
            id = client.execute(
                "",
                silent=True,
                store_history=False,
                allow_stdin=False,
                stop_on_error=False,
                user_expressions={"told": code},
            )
            while (reply := await client.get_shell_msg())["parent_header"].get("msg_id") != id:
                pass
        told = reply["content"]["user_expressions"]["told"]
        # It is the `repr` of base64 of JSON in ASCII.
        return msgspec.json.decode(base64.b64decode(told["data"]["text/plain"][1:-1]))
    except (TimeoutError, KeyError, TypeError, ValueError) as error:
        raise NoAnswer from error
    finally:
        client.stop_channels()


@cache
def _source(snippet: Snippet) -> str:
    return resources.files(__package__).joinpath(f"{snippet}.py").read_text()
