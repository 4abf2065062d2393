"""The browser of a sandbox, as seen from the server: what is asked of it, and what it told."""

from __future__ import annotations

import asyncio
import re
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from ...errors import OpenHandsError
from ...events import (
    BrowseInteractiveAction,
    BrowserOutputObservation,
    BrowserTab,
    ErrorObservation,
    Output,
)
from ..channel import SandboxDied
from ..sandbox import Sandbox
from ..trouble import how_it_died

SHOWN = 15_000
"""Characters of what a page shows that are told at once; the agent asks for the rest."""

ACT_SECONDS = 60.0
"""For an action, beyond the time that it is to wait; then the browser is ended."""

_ANSWER_SECONDS = 45.0
"""Beyond those, and with the start of the browser, after which a sandbox is held to be dead."""

_ELEMENT = re.compile(r"^\s*- (.*?) ?(?:\[[^\]]*\] ?)*\[ref=(\w+)\]", re.MULTILINE)

_WHY_NOT = {
    "landlock": "The Landlock sandbox has no network and no connections, which a browser needs.",
    "none": "There is no sandbox here, and a browser is used in one only.",
    "gateway": "The sandbox is on another machine, where no browser is used.",
}


class _Told(msgspec.Struct):
    """What the program in the sandbox told, which a page may have taken over."""

    url: Annotated[str, Meta(max_length=2_000)]
    title: Annotated[str, Meta(max_length=300)]
    status: int | None
    tree: Annotated[str, Meta(max_length=SHOWN)]
    start: int
    total: int
    cut: bool
    tabs: Annotated[list[BrowserTab], Meta(max_length=20)]
    notes: Annotated[list[Annotated[str, Meta(max_length=300)]], Meta(max_length=20)]
    picture: Annotated[str, Meta(max_length=8_000_000)]


class Driving:
    """What the browser of one sandbox showed last, and how to ask it for more."""

    def __init__(self) -> None:
        self._page = ""
        self._elements: dict[str, str] = {}

    def prepare(
        self, action: BrowseInteractiveAction
    ) -> BrowseInteractiveAction | ErrorObservation:
        """Say where an action would take place, and with what, for whoever judges it."""
        if not action.opens and not self._page:
            return ErrorObservation(
                code="no_page",
                message="No page is open: the browser was not started, or ended.",
                hint="Begin with open.",
            )
        element = self._elements.get(action.ref, "")
        return msgspec.structs.replace(action, page=self._page, element=element)

    async def act(
        self, sandbox: Sandbox, action: BrowseInteractiveAction, stopping: asyncio.Event
    ) -> BrowserOutputObservation:
        """Have it done.

        Parameters
        ----------
        sandbox
            Where the browser is, or is started; it is killed if it does not answer.
        action
            What to do.
        stopping
            Set when somebody wants it to stop.

        Raises
        ------
        OpenHandsError
            When it could not be done.
        """
        backend = sandbox.isolation_in_force.backend if sandbox.isolation_in_force else ""
        if backend in _WHY_NOT:
            hint = "Use fetch, which needs no browser."
            raise OpenHandsError("no_browser", _WHY_NOT[backend], hint)
        try:
            told = await self._asked(sandbox, action, stopping)
        except OpenHandsError as error:
            if error.code == "helper_ended":
                self.forget()
                raise OpenHandsError(
                    "browser_ended",
                    "The browser ended, perhaps for want of memory, and its pages are gone.",
                    "Begin with open: it is started again.",
                ) from error
            raise
        if action.do != "look":
            self._elements.clear()
        self._elements.update((ref, what) for what, ref in _ELEMENT.findall(told.tree))
        self._page = told.url
        return BrowserOutputObservation(
            url=told.url,
            status=told.status,
            title=" ".join(told.title.split()),
            content=told.tree,
            start=told.start,
            total=told.total,
            cut=told.cut,
            tabs=told.tabs,
            notes=told.notes,
            outputs=_pictures(told.picture),
        )

    def forget(self) -> None:
        """Know nothing, as the browser is gone."""
        self._page = ""
        self._elements.clear()

    async def _asked(
        self, sandbox: Sandbox, action: BrowseInteractiveAction, stopping: asyncio.Event
    ) -> _Told:
        seconds = ACT_SECONDS + action.seconds
        params = {"program": _program(), "request": _request(action), "seconds": seconds}
        try:
            async with asyncio.timeout(seconds + _ANSWER_SECONDS):
                told = await sandbox.request("helper.ask", params)
            return msgspec.convert(told, _Told)
        except msgspec.ValidationError as error:
            raise OpenHandsError(
                "browser_failed", "The browser told more than it may.", "Open another page."
            ) from error
        except (SandboxDied, TimeoutError) as error:
            sandbox.kill()
            self.forget()
            raise OpenHandsError(
                how_it_died(error, stopping.is_set()),
                "The sandbox ended, and its browser with it.",
                "Begin with open.",
            ) from error


def _request(action: BrowseInteractiveAction) -> dict[str, Any]:
    names = ("do", "url", "ref", "text", "enter", "screens", "seconds", "tab", "start", "accept")
    return {**{name: getattr(action, name) for name in names}, "shown": SHOWN}


def _pictures(picture: str) -> list[Output]:
    if not picture:
        return []
    return [Output(kind="display_data", data={"image/png": picture})]


@cache
def _program() -> dict[str, str]:
    folder = Path(__file__).parent
    modules = ("waiting", "starting", "pilot")
    return {name: (folder / f"{name}.py").read_text(encoding="utf-8") for name in modules}
