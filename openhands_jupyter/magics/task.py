"""What `%%openhands` gives: a task, and what has become of it."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Generator
from typing import Any
from uuid import uuid4

from .turn import ENDED

MIME = "application/vnd.openhands+json"
"""What the extension draws; its shape is in docs/magics.md."""

VERSION = 1


class CannotWait(RuntimeError):
    """Waiting here would keep the kernel from hearing the answer."""


class Task:
    """A task for the agent, from one cell.

    Attributes
    ----------
    id
        Of the task.
    prompt
        What is sent, with everything expanded.
    session
        Id of the session it is done in; None before it began.
    message
        Id of the event that it is on the session's log as; None before it began.
    state
        ``waiting`` for the page or for the person's click, ``answered`` when this cell has an
        answer from before, else the agent's state, such as ``running`` or ``finished``.
    answer
        What the agent answered, as Markdown; empty before.
    reason
        Why it ended, where it did not end well.
    """

    def __init__(self, prompt: str, *, can_block: bool = True, can_await: bool = True) -> None:
        self.id = uuid4().hex
        self.prompt = prompt
        self.session: str | None = None
        self.message: int | None = None
        self.state = "waiting"
        self.answer = ""
        self.reason = ""
        self._can_block = can_block
        self._can_await = can_await
        self._events: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []

    def __repr__(self) -> str:
        where = f" in session {self.session[:8]}" if self.session else ""
        return f"<OpenHands task, {self.state.replace('_', ' ')}{where}>"

    def _ipython_display_(self) -> None:
        """Show nothing: the cell's output shows the task already."""

    @property
    def fingerprint(self) -> str:
        """What tells whether a cell asks for the same as before."""
        return hashlib.sha256(self.prompt.encode()).hexdigest()

    @property
    def done(self) -> bool:
        """Whether nothing more comes of it by itself."""
        return self.state in ENDED

    def events(self) -> list[dict[str, Any]]:
        """The events of the session's log since the message, as far as they are known here.

        They are JSON objects; docs/architecture.md says what they are.
        """
        with self._lock:
            return list(self._events)

    def wait(self, timeout: float | None = None) -> Task:
        """Wait until it has ended.

        Parameters
        ----------
        timeout
            Seconds; None for as long as it takes.

        Raises
        ------
        TimeoutError
            When it has not ended by then.
        CannotWait
            In a cell whose kernel would not hear the answer meanwhile.
        """
        main = threading.current_thread() is threading.main_thread()
        if not self.done and main and not self._can_block:
            raise CannotWait(
                "This kernel cannot hear the answer while it waits here. "
                "Write `await task` instead of `task.wait()`."
            )
        if not self._ended.wait(timeout) and not self.done:
            raise TimeoutError(f"The task has not ended after {timeout} seconds.")
        return self

    def __await__(self) -> Generator[Any, None, Task]:
        """Wait until it has ended: ``await task``.

        Raises
        ------
        CannotWait
            In a kernel that would not hear the answer meanwhile.
        """
        if not self.done and not self._can_await:
            raise CannotWait(
                "This kernel cannot hear the answer while it waits here: that needs ipykernel 7. "
                "Run this cell again when the output of the task says that it has ended."
            )
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()
        with self._lock:
            if self.done:
                ended.set_result(None)
            else:
                self._waiting.append((loop, ended))
        yield from ended
        return self

    def update(
        self,
        *,
        state: str | None = None,
        session: str | None = None,
        message: int | None = None,
        answer: str | None = None,
        reason: str | None = None,
        events: list[dict[str, Any]] | None = None,
    ) -> None:
        """Take in what became of it; None for what is as it was. Any thread may call it."""
        with self._lock:
            self.session = session or self.session
            self.message = self.message if message is None else message
            self.answer = self.answer if answer is None else answer
            self.reason = self.reason if reason is None else reason
            last = self._events[-1]["id"] if self._events else -1
            self._events += [event for event in events or () if event["id"] > last]
            self.state = state or self.state
            waiting = self._waiting if self.done else []
            if self.done:
                self._waiting = []
                self._ended.set()
            else:
                self._ended.clear()
        for loop, ended in waiting:
            loop.call_soon_threadsafe(_resolve, ended)

    def bundle(self) -> dict[str, Any]:
        """The output of its cell: for the extension, and as text for everybody else."""
        payload = {
            "version": VERSION,
            "kind": "task",
            "id": self.id,
            "prompt": self.prompt,
            "state": self.state,
            "session": self.session,
            "message": self.message,
            "answer": self.answer,
            "reason": self.reason,
        }
        return {MIME: payload, "text/plain": self.answer or NOT_SHOWN}


NOT_SHOWN = (
    "OpenHands waits for this page. If nothing follows, the page has no OpenHands extension: "
    "see `jupyter labextension list`, or add --direct to reach the server from the kernel."
)


def _resolve(ended: asyncio.Future[None]) -> None:
    if not ended.done():
        ended.set_result(None)
