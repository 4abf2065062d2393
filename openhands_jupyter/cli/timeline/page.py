"""Where events are printed, and who prints which."""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch

from ...agents.results import text_of
from ...events import Event, LeftCell, Output, TouchedFiles
from ...notebooks.showing.effects import files_text
from ..terminal import Terminal, inert


class Page:
    """Prints lines of events on a terminal; whatever they hold cannot control it.

    Attributes
    ----------
    indent
        What stands before each line.
    """

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self.indent = ""

    def head(self, event: Event, text: str, colour: str = "bold") -> None:
        """Print the line that an event is known by."""
        self._terminal.print(f"{event.id:>4}  {self.indent}{inert(text)}", colour)

    def block(self, mark: str, text: str, colour: str = "") -> None:
        """Print what belongs to an event, each line behind a mark."""
        for line in inert(text).rstrip("\n").split("\n"):
            self._terminal.print(f"      {self.indent}{mark}{line}", colour)

    def text(self, mark: str, text: str | None, colour: str) -> None:
        """Print such a block, if there is one."""
        if text:
            self.block(mark, text, colour)

    def files(self, files: TouchedFiles | None) -> None:
        """Print which files code touched, if any."""
        self.text("", files_text(files), "dim")

    def outputs(self, outputs: Iterable[Output]) -> None:
        """Print what cells printed, displayed and raised."""
        for output in outputs:
            self.block("", _plain(output), "red" if output.kind == "error" else "")

    def left(self, path: str, cells: Iterable[LeftCell]) -> None:
        """Print which cells of a notebook were left alone, and why."""
        for left in cells:
            self.block("", f"Left alone: {path}, cell {left.id}: {left.why}", "yellow")


def _plain(output: Output) -> str:
    """The plainest form of a cell's output."""
    if output.kind in ("stream", "error"):
        return text_of(output.text)
    plain = output.data.get("text/plain")
    if isinstance(plain, str):
        return plain
    return f"({', '.join(output.data)})"


@singledispatch
def show(event: Event, page: Page) -> None:
    """Print an event. Those that nothing is registered for have no line of their own."""
