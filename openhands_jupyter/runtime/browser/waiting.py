"""What a browser is waited for, and what is said where that was in vain.

Sent into the sandbox with `pilot`, so it imports nothing else of ours. Nothing that a page wrote is
in an error: who reads those takes them for ours.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable
from typing import Any

OPEN_SECONDS = 30.0
"""For a page to come."""

ELEMENT_SECONDS = 5.0
"""For an element to be there, in view and not covered."""

LOOK_SECONDS = 10.0
"""For a page to say what it shows."""

_BUSY = ("page_busy", "The page does not answer: its scripts keep it busy.")
_BUSY_HINT = "Close the tab, or open another page in a new one."


class Failed(Exception):
    """It could not be done: a code, a sentence, a hint."""


async def reached(going: Awaitable[Any]) -> None:
    """Go somewhere, and say what kept it from there."""
    from playwright.async_api import Error, TimeoutError

    try:
        await going
    except TimeoutError:
        raise Failed(
            "open_timeout",
            f"The page was not there in {OPEN_SECONDS:.0f} seconds.",
            "Try again later, or another address.",
        ) from None
    except Error as error:
        reason = re.search(r"net::ERR_([A-Z_]+)", error.message)
        if reason is None or reason[1] == "ABORTED":
            # A download, or no page at all; a note says so, or the page that is shown.
            return
        why = {
            "TUNNEL_CONNECTION_FAILED": "The network's proxy does not lead there.",
            "INTERNET_DISCONNECTED": "There is no network.",
            "NAME_NOT_RESOLVED": "The host was not found; there may be no network.",
        }.get(reason[1], f"The host was not reached, or gave no proper answer ({reason[1]}).")
        hint = "Check the address. Whether a host may be reached is for the person to decide."
        raise Failed("not_reached", why, hint) from None


async def touched(doing: Awaitable[Any]) -> None:
    """Do something with an element, and say why that was not possible."""
    from playwright.async_api import Error, TimeoutError

    try:
        await doing
    except TimeoutError:
        raise Failed(
            "not_possible",
            f"It was not possible within {ELEMENT_SECONDS:.0f} seconds: the element is not in "
            "sight, covered by another or not to be changed, or the page does not answer.",
            "Look at the page again.",
        ) from None
    except Error as error:
        if "Unknown key" in error.message:
            raise Failed(
                "bad_key", "There is no such key.", "Keys are called Enter, Tab, a, Control+a."
            ) from None
        raise Failed(
            "not_possible", "That is not possible with this element.", "Look at the page again."
        ) from None


async def look(looking: Awaitable[Any]) -> Any:
    """What a page tells of itself, unless it does not answer."""
    from playwright.async_api import Error

    try:
        return await asyncio.wait_for(asyncio.ensure_future(looking), LOOK_SECONDS)
    except (TimeoutError, Error):
        raise Failed(*_BUSY, _BUSY_HINT) from None
