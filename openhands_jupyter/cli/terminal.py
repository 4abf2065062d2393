"""Text to and from a terminal; text from outside cannot control it."""

from __future__ import annotations

import asyncio
from typing import TextIO
from unicodedata import category

from ..events.shown import without_escapes

COLOURS = {"dim": "2", "bold": "1", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}

_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
"""Unicode categories of characters that control the text around them or cannot be seen."""


def inert(text: str) -> str:
    """`text` without escape sequences, and with characters that cannot be seen made visible."""
    text = without_escapes(text).replace("\r\n", "\n")
    return "".join(
        f"\\u{{{ord(c):x}}}" if c not in "\n\t" and category(c) in _INVISIBLE else c for c in text
    )


class Terminal:
    """Prints, and asks where somebody can answer.

    Parameters
    ----------
    source, sink
        Standard input and output.
    flush
        Whether each text is there at once; else when whoever has the sink says so.
    """

    def __init__(self, source: TextIO, sink: TextIO, flush: bool = True) -> None:
        self._source = source
        self._sink = sink
        self._flush = flush
        self._colourful = sink.isatty()
        self._reading: asyncio.Future[str] | None = None

    @property
    def can_ask(self) -> bool:
        """Whether there is somebody to ask."""
        return self._source.isatty()

    def print(self, text: str = "", colour: str = "") -> None:
        """Print a text of ours; what comes from outside goes through `inert` first."""
        if colour and self._colourful:
            text = f"\x1b[{COLOURS[colour]}m{text}\x1b[0m"
        print(text, file=self._sink, flush=self._flush)

    async def ask(self, prompt: str) -> str:
        """What the person types; empty when there is no more input or the wait was given up."""
        print(prompt, end=" ", file=self._sink, flush=True)
        loop = asyncio.get_running_loop()
        self._reading = loop.create_future()
        loop.add_reader(self._source, self._read_line)
        try:
            return await self._reading
        finally:
            loop.remove_reader(self._source)
            self._reading = None

    def give_up_asking(self) -> None:
        """End the wait for an answer, if there is one."""
        if self._reading and not self._reading.done():
            self._reading.set_result("")

    def _read_line(self) -> None:
        line = self._source.readline()
        if self._reading and not self._reading.done():
            self._reading.set_result(line.strip())
