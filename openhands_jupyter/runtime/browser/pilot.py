"""Drives a browser: a program that runs in the sandbox, beside the browser, as long as that does.

It is sent there as text, with `starting` and `waiting` alone. The standard input has one request a
line, JSON; the standard output one answer a line, see `Pilot.act`. ``{"stop": true}`` ends the
request that runs.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import sys
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .starting import driver, started
from .waiting import (
    ELEMENT_SECONDS,
    LOOK_SECONDS,
    OPEN_SECONDS,
    Failed,
    look,
    reached,
    touched,
)

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Dialog, Locator, Page, Request

WIDTH, HEIGHT = 1280, 800
"""Of the window, in pixels."""

MOST_TABS = 10
MOST_NOTES = 10
LONGEST_NOTE = 300
LONGEST_URL = 2_000
LONGEST_TREE = 2_000_000
"""Characters."""

SETTLE_SECONDS = 3.0
"""At most, for what an action made a page load."""

QUIET_SECONDS = 0.2
"""Without a request, after which a page has loaded what it loads."""


@dataclass
class Tab:
    """A page that is open.

    Attributes
    ----------
    title
        As it was when the page was looked at last.
    status
        Of the answer that it came with.
    requests
        What it waits for.
    """

    page: Page
    title: str = ""
    status: int | None = None
    requests: set[Request] = field(default_factory=set)


class Pilot:
    """One browser with its tabs.

    Parameters
    ----------
    browser
        It runs, and has nothing open.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._tabs: dict[int, Tab] = {}
        self._current = 0
        self._last = 0
        self._notes: list[str] = []
        self._says_yes = False
        self._crashed = False
        self._opening = False

    async def prepare(self) -> None:
        """Make the place where its pages live, which keeps nothing and takes no files."""
        context: BrowserContext = await self._browser.new_context(
            accept_downloads=False, viewport={"width": WIDTH, "height": HEIGHT}
        )
        self._context = context
        context.set_default_timeout(ELEMENT_SECONDS * 1000)
        context.on("page", self._on_page)
        context.on("dialog", self._on_dialog)

    async def act(self, *, do: str, **given: Any) -> dict[str, Any]:
        """Do something, and tell what the page shows then.

        Parameters
        ----------
        do
            See `events.BrowseInteractiveAction`, as for the others.

        Returns
        -------
        dict
            ``url``, ``title``, ``status``, ``tree`` (the part that was asked for), ``start``,
            ``total``, ``cut``, ``tabs``, ``notes`` and ``picture`` (Base64 of a PNG, or empty).

        Raises
        ------
        Failed
            When it could not be done.
        """
        self._says_yes = given["accept"]
        if do in ("open", "open_tab"):
            await self._open(given["url"], do == "open_tab")
        elif do == "switch_tab":
            await self._switch(given["tab"])
        elif do == "close_tab":
            await self._close(given["tab"])
        else:
            await self._act_on(self._tab().page, do, given)
        await self._settle()
        return await self._told(do, given)

    async def explained(self, failed: Failed) -> Failed:
        """What really failed: the page that crashed meanwhile; the whole browser ends this."""
        try:
            await asyncio.wait_for(self._context.cookies("http://localhost"), LOOK_SECONDS)
        except Exception:
            os._exit(1)
        if not self._crashed:
            return failed
        self._crashed = False
        return Failed(
            "page_crashed",
            "The page crashed, perhaps for want of memory, and its tab is closed.",
            "Open another page.",
        )

    async def _act_on(self, page: Page, do: str, given: dict[str, Any]) -> None:
        ref = given["ref"]
        if do == "back":
            await reached(page.go_back(wait_until="commit", timeout=OPEN_SECONDS * 1000))
        elif do == "click":
            await touched((await self._element(ref)).click())
        elif do == "type":
            element = await self._element(ref)
            await touched(element.fill(given["text"]))
            if given["enter"]:
                await touched(element.press("Enter"))
        elif do == "press":
            target = await self._element(ref) if ref else page.keyboard
            await touched(target.press(given["text"]))
        elif do == "select":
            element = await self._element(ref)
            await touched(element.select_option(label=given["text"]))
        elif do == "scroll" and ref:
            await touched((await self._element(ref)).scroll_into_view_if_needed())
        elif do == "scroll":
            await touched(page.mouse.wheel(0, given["screens"] * HEIGHT))
        elif do == "wait":
            await self._wait(page, given["text"], given["seconds"])

    async def _open(self, url: str, new_tab: bool) -> None:
        if not url.startswith(("http://", "https://")):
            raise Failed("bad_url", "Only addresses with http:// or https:// are opened.", "")
        if new_tab or self._current not in self._tabs:
            if len(self._tabs) >= MOST_TABS:
                raise Failed(
                    "too_many_tabs", f"There are {MOST_TABS} tabs already.", "Close one of them."
                )
            self._opening = True
            try:
                self._show(await self._context.new_page())
            finally:
                self._opening = False
        page = self._tab().page
        await reached(page.goto(url, wait_until="commit", timeout=OPEN_SECONDS * 1000))

    async def _switch(self, tab: int) -> None:
        await look(self._tab(tab).page.bring_to_front())
        self._current = tab

    async def _close(self, tab: int) -> None:
        page = self._tab(tab or self._current).page
        await look(page.close(run_before_unload=False))

    async def _wait(self, page: Page, text: str, seconds: float) -> None:
        if not text:
            await asyncio.sleep(seconds)
            return
        with contextlib.suppress(Exception):
            await page.get_by_text(text).first.wait_for(timeout=seconds * 1000)
            return
        self._note(f"The text was not there after {seconds:g} seconds.")

    def _tab(self, number: int = 0) -> Tab:
        tab = self._tabs.get(number or self._current)
        if tab is not None:
            return tab
        if number:
            raise Failed("no_such_tab", f"There is no tab {number}.", "Look at the list of tabs.")
        raise Failed("no_page", "No page is open.", "Begin with open.")

    async def _element(self, ref: str) -> Locator:
        """The element of this reference, as long as the page has it."""
        from playwright.async_api import Error

        with contextlib.suppress(Error, asyncio.TimeoutError):
            element = self._tab().page.get_by_ref(ref)
            if await asyncio.wait_for(element.count(), ELEMENT_SECONDS):
                return element
        raise Failed(
            "no_such_element",
            f"The page has no element {ref} any more, or does not answer.",
            "Look at the page again: references are those of the page as it was told last.",
        )

    async def _settle(self) -> None:
        """Wait until the page is there, and what it was made to load, or for some seconds."""
        tab = self._tabs.get(self._current)
        if tab is None:
            return
        with contextlib.suppress(Exception):
            await tab.page.wait_for_load_state(timeout=LOOK_SECONDS * 1000)
        quiet = 0.0
        for _ in range(int(SETTLE_SECONDS / 0.05)):
            quiet = 0.0 if tab.requests else quiet + 0.05
            if quiet > QUIET_SECONDS:
                return
            await asyncio.sleep(0.05)

    async def _told(self, do: str, given: dict[str, Any]) -> dict[str, Any]:
        told: dict[str, Any] = {"url": "", "title": "", "status": None, "picture": ""}
        tree = ""
        tab = self._tabs.get(self._current)
        if tab is not None:
            told["url"] = tab.page.url[:LONGEST_URL]
            told["status"] = tab.status
            tab.title = told["title"] = (await look(tab.page.title()))[:LONGEST_NOTE]
            if do == "screenshot":
                picture = await look(tab.page.screenshot(timeout=LOOK_SECONDS * 1000))
                told["picture"] = base64.b64encode(picture).decode()
            else:
                tree = await look(tab.page.aria_snapshot(mode="ai", timeout=LOOK_SECONDS * 1000))
        told["cut"] = len(tree) > LONGEST_TREE
        tree = found(tree[:LONGEST_TREE], given["text"] if do == "look" else "")
        start = min(given["start"], len(tree))
        part = tree[start : start + given["shown"]]
        if start + len(part) < len(tree) and "\n" in part:
            # A line is an element with its reference.
            part = part[: part.rindex("\n") + 1]
        told["notes"], self._notes = self._notes, []
        told["tabs"] = [
            {
                "tab": number,
                "url": tab.page.url[:LONGEST_URL],
                "title": tab.title,
                "current": number == self._current,
            }
            for number, tab in self._tabs.items()
        ]
        return {**told, "tree": part, "start": start, "total": len(tree)}

    def _show(self, page: Page) -> None:
        self._current = next(n for n, tab in self._tabs.items() if tab.page == page)

    def _on_page(self, page: Page) -> None:
        if len(self._tabs) >= MOST_TABS:
            self._note("The page wanted one more tab, which was closed: there are too many.")
            self._later(page.close())
            return
        self._last += 1
        number, tab = self._last, Tab(page)
        self._tabs[number] = tab
        page.on("close", lambda _: self._gone(number))
        page.on("crash", lambda _: self._on_crash(number))
        page.on("filechooser", lambda _: self._note("The page asked for files; it got none."))
        page.on(
            "download",
            lambda _: self._note("A download was refused. Get it with a command, if it is needed."),
        )
        page.on("request", lambda request: tab.requests.add(request))
        page.on("requestfinished", lambda request: tab.requests.discard(request))
        page.on("requestfailed", lambda request: tab.requests.discard(request))
        page.on("response", lambda answer: self._on_response(tab, answer))
        if not self._opening:
            self._note(f"The page opened tab {number}, which is shown now.")
            self._current = number

    def _gone(self, number: int) -> None:
        self._tabs.pop(number, None)
        if number == self._current:
            self._current = max(self._tabs, default=0)

    def _on_crash(self, number: int) -> None:
        self._note(f"The page of tab {number} crashed, perhaps for want of memory, and is closed.")
        self._crashed = True
        tab = self._tabs[number]
        self._gone(number)
        self._later(tab.page.close())

    def _on_response(self, tab: Tab, answer: Any) -> None:
        with contextlib.suppress(Exception):
            if answer.request.is_navigation_request() and answer.frame == tab.page.main_frame:
                tab.status = answer.status

    async def _on_dialog(self, dialog: Dialog) -> None:
        """Answer it, because the page stands still until then."""
        kind = dialog.type
        accepts = self._says_yes or kind in ("alert", "beforeunload")
        answer = "OK" if accepts else "Cancel"
        self._note(f"The page asked, and was answered {answer} ({kind}): {dialog.message}")
        with contextlib.suppress(Exception):
            await (dialog.accept(dialog.default_value) if accepts else dialog.dismiss())

    def _note(self, text: str) -> None:
        if len(self._notes) < MOST_NOTES:
            self._notes.append(text[:LONGEST_NOTE])

    def _later(self, work: Awaitable[Any]) -> None:
        async def do() -> None:
            with contextlib.suppress(Exception):
                await work

        self._closing = asyncio.ensure_future(do())


def found(tree: str, text: str) -> str:
    """The lines that have this text in them, each with what it is within; all if there is none."""
    if not text:
        return tree
    lines, within = [], [(-1, "")]
    for line in tree.splitlines():
        depth = len(line) - len(line.lstrip())
        while within[-1][0] >= depth:
            within.pop()
        within.append((depth, line))
        if text.casefold() in line.casefold():
            lines += [each for _, each in within[1:]]
            # What was told once is not told again for the next.
            within = [(at, "") for at, _ in within]
    return "\n".join(filter(None, lines))


async def serve(pilot: Pilot) -> None:
    """Answer requests until there are no more; one at a time."""
    reader = asyncio.StreamReader(limit=1 << 20)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    running: asyncio.Task[None] | None = None
    while line := await reader.readline():
        request = json.loads(line)
        if "stop" not in request:
            running = asyncio.create_task(_answer(pilot, request))
        elif running is not None:
            running.cancel()


async def _answer(pilot: Pilot, request: dict[str, Any]) -> None:
    try:
        answer = await pilot.act(**request)
    except Failed as failed:
        code, message, hint = (await pilot.explained(failed)).args
        answer = {"error": code, "message": message, "hint": hint}
    except asyncio.CancelledError:
        answer = {"error": "stopped", "message": "It was stopped.", "hint": ""}
    except Exception as error:  # Whatever it is, it is waited for.
        kind = type(error).__name__
        answer = {"error": "browser_failed", "message": f"The browser failed ({kind}).", "hint": ""}
    _print(answer)


def _print(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Drive a browser until the standard input ends, or the browser does."""
    try:
        asyncio.run(_main())
    except Failed as failed:
        _print(dict(zip(("error", "message", "hint"), failed.args, strict=True)))


async def _main() -> None:
    async with driver() as playwright:
        browser = await started(playwright)
        browser.on("disconnected", lambda _: os._exit(1))
        pilot = Pilot(browser)
        await pilot.prepare()
        _print({})
        await serve(pilot)
    os._exit(0)
