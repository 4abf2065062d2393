"""Pages of the web, each fetched in a process of its own that can be ended."""

from __future__ import annotations

import base64
import json
from typing import Any

from .errors import ActionError
from .program import Program, source_of

GRACE = 5.0
"""Seconds beyond those given, after which a fetch that does not look at the clock is ended."""

_TRY = "Check the address. Whether a host may be reached is for the person to decide."

_PROGRAM = source_of("fetcher")


class Web:
    """The web, as far as the sandbox's network leads there."""

    def __init__(self) -> None:
        self._fetcher = Program(_PROGRAM, "fetch")

    def fetch(self, url: str, limit: int, seconds: float) -> dict[str, Any]:
        """Fetch what is at an address.

        Parameters
        ----------
        url
            The address.
        limit
            Bytes that are fetched at most.
        seconds
            How long it may take.

        Returns
        -------
        dict
            ``url`` (after redirects), ``status``, ``media_type``, ``charset``, ``cut`` (whether
            there was more), ``body`` (Base64).

        Raises
        ------
        ActionError
            ``bad_url``, ``not_reached``, ``fetch_timeout``, ``fetch_failed``, ``stopped``.
        """
        request = {"url": url, "limit": limit, "seconds": seconds}
        ended = self._fetcher.ask(request, seconds + GRACE)
        if ended is None:
            raise _timeout(seconds)
        code, output = ended
        head, _, body = output.partition(b"\n")
        if code != 0 or not head:
            raise ActionError("fetch_failed", f"The fetch ended early (code {code}).", _TRY)
        answer: dict[str, Any] = json.loads(head)
        error = answer.get("error")
        if error is None:
            return {**answer, "body": base64.b64encode(body).decode()}
        if error == "fetch_timeout":
            raise _timeout(seconds)
        raise ActionError(error, answer["message"], _TRY)

    def stop(self) -> None:
        """End the fetch that runs, if any."""
        self._fetcher.stop()


def _timeout(seconds: float) -> ActionError:
    return ActionError(
        "fetch_timeout",
        f"The page was not there in {seconds:.0f} seconds.",
        "Try again later, or another address.",
    )
