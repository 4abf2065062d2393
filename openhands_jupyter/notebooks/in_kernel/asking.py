"""Asks a kernel something by fixed code, without a trace; whoever uses it does not notice."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from ..running.kernels import Attachment
from .expressions import Snippet, expression, told_in


class NoAnswer(Exception):
    """The kernel did not answer in time, or not as it should."""


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
        # The `repr` of a text.
        return told_in(told["data"]["text/plain"][1:-1])
    except (TimeoutError, KeyError, TypeError, ValueError) as error:
        raise NoAnswer from error
    finally:
        client.stop_channels()


async def inspect(kernel: Attachment, name: str, detail: int, within: float) -> str:
    """What an idle kernel of any language says of a name, in its own words; empty for nothing.

    Raises
    ------
    NoAnswer
        When there was none.
    """
    client = kernel.client()
    client.start_channels(iopub=False, stdin=False, hb=False)
    try:
        async with asyncio.timeout(within):
            id = client.inspect(name, cursor_pos=len(name), detail_level=detail)
            while (reply := await client.get_shell_msg())["parent_header"].get("msg_id") != id:
                pass
        return str(reply["content"].get("data", {}).get("text/plain", ""))
    except (TimeoutError, KeyError) as error:
        raise NoAnswer from error
    finally:
        client.stop_channels()
