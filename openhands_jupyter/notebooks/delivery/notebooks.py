"""All notebooks of a server, and the way to each."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from .disk import Contents, DiskDocument, Files
from .document import Document, OpenNotebook
from .room import RoomDocument, Rooms
from .tab_document import TabDocument
from .tabs import Tabs

MOST_FOLDERS = 500
MOST_FILES = 500
LEFT_OUT = frozenset({"node_modules", "__pycache__", "site-packages"})
"""Folders in which nobody looks for notebooks."""


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

    async def create(self, path: str, notebook: dict[str, Any]) -> None:
        """Write a notebook where there is none.

        Parameters
        ----------
        path
            As Jupyter's contents API has it.
        notebook
            As nbformat has it.

        Raises
        ------
        NotFound, Conflict
            When the folder is not there, or the file is.
        """
        path = path.strip("/")
        async with self._locks.setdefault(path, asyncio.Lock()):
            await self._files.create(path, notebook)

    async def files(self, folder: str, fits: Callable[[str], bool]) -> tuple[list[str], bool]:
        """The notebooks below a folder, whoever has them open, in the order of their paths.

        Parameters
        ----------
        folder
            As the contents API has it.
        fits
            Which paths are wanted.

        Returns
        -------
        tuple
            The paths, and whether the search was ended early, as it was long.
        """
        found: list[str] = []
        waiting, looked_at = deque([folder.strip("/")]), 0
        while waiting and looked_at < MOST_FOLDERS and len(found) < MOST_FILES:
            looked_at += 1
            for path, kind in await self._files.folder(waiting.popleft()):
                if kind == "directory" and path.rpartition("/")[2] not in LEFT_OUT:
                    waiting.append(path)
                elif kind == "notebook" and fits(path):
                    found.append(path)
        return sorted(found), bool(waiting)

    def open_in_browser(self) -> list[OpenNotebook]:
        """The notebooks that people have open, each once, those on the screen first."""
        return self.tabs.notebooks()

    def close(self) -> None:
        """Answer whoever still waits for a tab."""
        self.tabs.close()


def notebooks_in(root: Path) -> Notebooks:
    """The notebooks below a folder that no server is known for, as files."""
    from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

    return Notebooks(AsyncLargeFileManager(root_dir=str(root)))
