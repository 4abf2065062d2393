"""The browser tabs that are connected, and what they are asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any
from uuid import uuid4

import msgspec
from msgspec import UNSET, Raw, UnsetType

from ...errors import Conflict, OpenHandsError
from .document import OpenNotebook, OutcomeUnknown, not_saved, read_only
from .live import LastRead, Live, last_read

ANSWERS_WITHIN = 10.0
"""Seconds that a tab has for an answer."""

SAVES_WITHIN = 60.0
"""Seconds that a tab has to save: it asks the server, which may write to something slow."""

RETURNS_WITHIN = 5.0
"""Seconds after which a tab that has lost its connection counts as closed."""

Send = Callable[[bytes], None]


class Announcement(msgspec.Struct, frozen=True, tag="notebooks"):
    """All notebooks that a tab has open now, and whether it can open more behind them."""

    notebooks: list[OpenNotebook]
    opens: bool = False


class Part(msgspec.Struct, frozen=True, tag="part"):
    """A piece of an answer's result as JSON, where the whole is too long for one message."""

    id: str
    text: str


class TabError(msgspec.Struct, frozen=True):
    """Why a tab did not do what it was asked."""

    code: str
    message: str


class Answer(msgspec.Struct, frozen=True, tag="answer"):
    """The answer to a request; without a result and an error, the parts before are the result."""

    id: str
    result: Raw | UnsetType = UNSET
    error: TabError | None = None


_decode = msgspec.json.Decoder(Announcement | Part | Answer).decode


class _Request:
    def __init__(self, method: str, params: dict[str, Any]) -> None:
        self.id = uuid4().hex
        self.frame = msgspec.json.encode(
            {"type": "request", "id": self.id, "method": method, "params": params}
        )
        self.parts: list[str] = []
        self.answer: asyncio.Future[Raw] = asyncio.get_running_loop().create_future()


class Tab:
    """A browser tab.

    Parameters
    ----------
    id
        What it calls itself, over breaks of its connection.
    number
        Which one it was, of all that ever connected.
    """

    def __init__(self, id: str, number: int) -> None:
        self.id = id
        self.number = number
        self.notebooks: dict[str, OpenNotebook] = {}
        self.last_reads: dict[str, LastRead] = {}
        self.opens = False
        self.send: Send | None = None
        self.requests: dict[str, _Request] = {}
        self.settled = asyncio.Event()
        self.forgetting: asyncio.TimerHandle | None = None


class Tabs:
    """The tabs that are connected, and those that were a moment ago.

    Parameters
    ----------
    answers_within, returns_within
        Seconds, see `ANSWERS_WITHIN` and `RETURNS_WITHIN`.
    """

    def __init__(
        self, answers_within: float = ANSWERS_WITHIN, returns_within: float = RETURNS_WITHIN
    ) -> None:
        self.answers_within = answers_within
        self.returns_within = returns_within
        self._tabs: dict[str, Tab] = {}
        self._numbers = count()

    def connect(self, id: str, send: Send) -> Tab:
        """Take in a tab; one that comes back is asked again what it did not answer.

        Parameters
        ----------
        id
            What it calls itself.
        send
            Sends it a frame, without waiting.
        """
        tab = self._tabs.setdefault(id, Tab(id, next(self._numbers)))
        if tab.forgetting:
            tab.forgetting.cancel()
            tab.forgetting = None
        tab.send = send
        for request in tab.requests.values():
            request.parts.clear()
            send(request.frame)
        return tab

    def disconnect(self, tab: Tab, send: Send) -> None:
        """Note that a connection has ended; another one of the same tab may have replaced it."""
        if tab.send == send:
            tab.send = None
            tab.settled.clear()
            loop = asyncio.get_running_loop()
            tab.forgetting = loop.call_later(self.returns_within, self._forget, tab)

    def receive(self, tab: Tab, frame: str | bytes) -> None:
        """Take in what a tab sends.

        Raises
        ------
        msgspec.DecodeError
            When it is nothing that a tab may send.
        """
        match _decode(frame):
            case Announcement(notebooks=notebooks, opens=opens):
                tab.opens = opens
                tab.notebooks = {notebook.path: notebook for notebook in notebooks}
                tab.last_reads = {p: r for p, r in tab.last_reads.items() if p in tab.notebooks}
                tab.settled.set()
            case Part(id=id, text=text) if request := tab.requests.get(id):
                request.parts.append(text)
            case Answer(id=id) as answer if request := tab.requests.get(id):
                _resolve(request, answer)

    async def have(self, path: str) -> bool:
        """Whether a tab has this notebook open; it waits for those that may come back."""
        while True:
            if self._with(path):
                return True
            lost = [tab for tab in self._tabs.values() if not tab.send and path in tab.notebooks]
            if not lost:
                return False
            # One that is back and says nothing is asked all the same, and then has to answer.
            with suppress(TimeoutError):
                async with asyncio.timeout(self.returns_within):
                    await lost[0].settled.wait()

    def notebooks(self) -> list[OpenNotebook]:
        """What is open, each path once, as the tab has it that would be asked."""
        paths = {path for tab in self._tabs.values() if tab.send for path in tab.notebooks}
        found = [self._with(path)[-1].notebooks[path] for path in sorted(paths)]
        return sorted(found, key=lambda notebook: not notebook.visible)

    async def request(
        self, path: str, method: str, within: float | None = None, **params: Any
    ) -> Raw:
        """Have the tab that shows a notebook do something with it.

        Of several, it is the one where it is on the screen, then the newest.

        Parameters
        ----------
        path
            Which notebook.
        method
            What to do.
        within
            Seconds that the tab has for it; `answers_within` by default.
        params
            What else the tab has to know.

        Returns
        -------
        Raw
            The result as JSON.

        Raises
        ------
        Conflict
            When no tab has it open now, or the tab refused.
        OutcomeUnknown
            When no answer came.
        """
        return await self._ask(self._to_ask(path), path, method, within, **params)

    async def read(self, path: str, whole: list[str] | None) -> Live:
        """Read a notebook as the tab has it that would be asked, see `request` for its errors.

        The tab sends only what is another since it was read last, as far as it can tell.

        Parameters
        ----------
        path
            Which notebook.
        whole
            As for `Document.read`.

        Returns
        -------
        Live
            All cells, each as the tab has it.
        """
        tab = self._to_ask(path)
        known = None if whole is None else tab.last_reads.get(path)
        result = await self._ask(
            tab, path, "read", whole=whole, known=known.version if known else None
        )
        live = msgspec.json.decode(result, type=Live)
        if known and live.since == known.version:
            live = msgspec.structs.replace(live, cells=known.with_changes(live))
        if whole is not None and path in tab.notebooks:
            tab.last_reads.pop(path, None)
            if read := last_read(live, whole):
                tab.last_reads[path] = read
        return live

    async def show(self, path: str) -> None:
        """Have a JupyterLab open a notebook, behind what its person looks at, without a kernel.

        Raises
        ------
        Conflict
            When no JupyterLab is connected.
        OpenHandsError
            When it was not opened, or nobody knows.
        """
        tabs = [tab for tab in self._tabs.values() if tab.send and tab.opens]
        if not tabs:
            raise Conflict("no_jupyterlab", "The person has no JupyterLab open.")
        shown = {tab.id: any(n.visible for n in tab.notebooks.values()) for tab in tabs}
        tab = max(tabs, key=lambda tab: (shown[tab.id], tab.number))
        await self._ask(tab, path, "open")

    async def _ask(
        self,
        tab: Tab,
        path: str,
        method: str,
        within: float | None = None,
        **params: Any,
    ) -> Raw:
        request = _Request(method, {"path": path, **params})
        tab.requests[request.id] = request
        assert tab.send
        tab.send(request.frame)
        try:
            async with asyncio.timeout(self.answers_within if within is None else within):
                return await request.answer
        except TimeoutError as error:
            raise OutcomeUnknown(path) from error
        except _Refused as refused:
            raise _refusal(path, refused.error) from None
        except _Gone:
            raise OutcomeUnknown(path) from None
        finally:
            del tab.requests[request.id]

    def close(self) -> None:
        """Forget all tabs."""
        for tab in list(self._tabs.values()):
            if tab.forgetting:
                tab.forgetting.cancel()
            self._forget(tab)

    def _to_ask(self, path: str) -> Tab:
        if tabs := self._with(path):
            return tabs[-1]
        raise _closed(path)

    def _with(self, path: str) -> list[Tab]:
        """The connected tabs with a notebook, the one to ask last."""
        tabs = [tab for tab in self._tabs.values() if tab.send and path in tab.notebooks]
        return sorted(tabs, key=lambda tab: (tab.notebooks[path].visible, tab.number))

    def _forget(self, tab: Tab) -> None:
        self._tabs.pop(tab.id, None)
        tab.notebooks = {}
        tab.settled.set()
        for request in tab.requests.values():
            if not request.answer.done():
                request.answer.set_exception(_Gone())


class _Refused(Exception):
    def __init__(self, error: TabError) -> None:
        self.error = error


class _Gone(Exception):
    """The tab is gone, and its answer with it."""


def _resolve(request: _Request, answer: Answer) -> None:
    if request.answer.done():
        return
    if answer.error:
        request.answer.set_exception(_Refused(answer.error))
    elif answer.result is UNSET:
        request.answer.set_result(Raw("".join(request.parts).encode()))
    else:
        request.answer.set_result(answer.result)


def _refusal(path: str, error: TabError) -> OpenHandsError:
    match error.code:
        case "not_open":
            return _closed(path)
        case "read_only":
            return read_only(path)
        case "changed_on_disk":
            return Conflict(
                "notebook_changed_on_disk",
                f"The file of {path} was changed by something else since it was opened.",
                "Choose in JupyterLab which of both is to stay: save it there, or reload it.",
            )
        case "no_kernel":
            return no_kernel(path)
        case "pending_input":
            return Conflict(
                "kernel_awaits_input",
                f"The kernel of {path} waits for input.",
                "Answer it in the notebook, or interrupt the kernel.",
            )
        case "not_saved":
            return not_saved(path)
        case _:
            return OpenHandsError(
                "tab_failed", f"The browser could not do this with {path}: {error.message}"
            )


def no_kernel(path: str) -> Conflict:
    """The error for cells of a notebook that nothing can run."""
    return Conflict(
        "notebook_has_no_kernel", f"{path} has no kernel.", "Choose one for it in JupyterLab."
    )


def _closed(path: str) -> Conflict:
    return Conflict(
        "notebook_closed",
        f"{path} is not open in a browser any more.",
        "Try again: the file itself is used then.",
    )
