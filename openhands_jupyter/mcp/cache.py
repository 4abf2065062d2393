"""What servers listed when they ran last, so that a prompt need not wait for them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec

from .config import ServerConfig
from .protocol import FoundTool

FRESH = 24 * 3600.0
"""Seconds after which a listing is used once more, but the server is started to list anew."""

LARGEST = 8_000_000
"""Bytes of a listing."""


class Listing(msgspec.Struct, frozen=True):
    """The tools of a server, and when it listed them (seconds since 1970)."""

    time: float
    tools: list[FoundTool]

    @property
    def fresh(self) -> bool:
        """Whether it need not be listed anew."""
        return 0 <= time.time() - self.time < FRESH


class ToolCache:
    """The listings of servers by what is configured of them: in memory, and in a folder.

    Parameters
    ----------
    folder
        Made when the first listing is kept.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, Listing] = {}

    def load(self, configs: Iterable[ServerConfig]) -> None:
        """Read what there is of these; takes time."""
        for config in configs:
            key = config.digest
            if key not in self._known:
                try:
                    with (self._folder / key).open("rb") as file:
                        self._known[key] = msgspec.json.decode(file.read(LARGEST), type=Listing)
                except (OSError, msgspec.MsgspecError):
                    continue

    def get(self, config: ServerConfig) -> Listing | None:
        """What the server listed; None where that is not known."""
        return self._known.get(config.digest)

    def put(self, config: ServerConfig, tools: list[FoundTool]) -> None:
        """Take in what a server lists, in memory."""
        self._known[config.digest] = Listing(time.time(), tools)

    def save(self, config: ServerConfig) -> None:
        """Keep it for later; takes time. Nothing is said where that is not possible."""
        key = config.digest
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            partial = self._folder / f"{key}.{os.getpid()}.partial"
            partial.write_bytes(msgspec.json.encode(self._known[key]))
            os.replace(partial, self._folder / key)
        except OSError:
            pass
