"""All notebooks of a server, and the way to each."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from weakref import WeakValueDictionary

from .disk import Contents, DiskDocument, Files
from .document import Document, OpenNotebook
from .room import RoomDocument, Rooms
from .tabs import TabDocument, Tabs


class Notebooks:
    """Finds the way to a notebook: the tab that has it open, else its room, else its file.

    Parameters
    ----------
    contents
        Jupyter's contents manager.
    settings
        The server's, in which extensions leave what they have for each other.

    Attributes
    ----------
    tabs
        The browser tabs that are connected.
    """

    def __init__(self, contents: Contents, settings: Mapping[str, Any] = {}) -> None:
        self.tabs = Tabs()
        self._rooms = Rooms(settings)
        self._files = Files(contents)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def open(self, path: str) -> Document:
        """The notebook at a path, in the way that leads to it now.

        It waits for a tab that has lost its connection a moment ago, because what a person has not
        saved is in there. Whether there is such a notebook is found out when it is read.

        Parameters
        ----------
        path
            As Jupyter's contents API has it.
        """
        path = path.strip("/")
        lock = self._locks.setdefault(path, asyncio.Lock())
        if await self.tabs.have(path):
            return TabDocument(path, self.tabs, lock)
        if shared := await self._rooms.find(path):
            return RoomDocument(path, shared, self._files, lock)
        return DiskDocument(path, self._files, lock)

    def open_in_browser(self) -> list[OpenNotebook]:
        """The notebooks that people have open, each once, those on the screen first."""
        return self.tabs.notebooks()

    def close(self) -> None:
        """Answer whoever still waits for a tab."""
        self.tabs.close()
