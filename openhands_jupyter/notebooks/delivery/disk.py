"""A notebook that nobody has open: its file, through Jupyter's contents manager."""

from __future__ import annotations

import asyncio
import os
import stat
from collections import OrderedDict
from collections.abc import Collection
from http import HTTPStatus
from typing import Any, NamedTuple, Protocol

from jupyter_server.utils import ensure_async
from tornado.web import HTTPError

from ...errors import Conflict, Invalid, NotFound, OpenHandsError
from ..addresses import with_ids
from ..cells import Cell, source_of
from ..changes import Applied, Change, Mismatch, apply
from .document import (
    Document,
    OpenNotebook,
    Snapshot,
    is_trusted,
    not_saved,
    read_only,
    snapshot,
)

ATTEMPTS = 5
"""How often a change is begun anew because the file is another one each time."""

REMEMBERED = 200
"""Notebooks whose given ids are remembered."""

TORN_FOR = 0.2
"""Seconds after which a file that is no notebook is read again."""

LARGEST = 100 * 2**20
"""Bytes of the largest file that is read: the server needs several times as much memory for it."""

KEPT_FOR = 60.0
"""Seconds for which what was read of a file is kept: to parse and check a large one takes long."""

MINOR_WITH_IDS = 5
"""The minor version of nbformat 4 from which on cells have ids."""


class Contents(Protocol):
    """What is used of Jupyter's contents manager; its methods may be coroutines."""

    checkpoints: Any

    def get(
        self,
        path: str,
        content: bool = True,
        type: str | None = None,
        format: str | None = None,
        require_hash: bool = False,
    ) -> Any:
        """A file as a model of the contents API."""

    def save(self, model: dict[str, Any], path: str) -> Any:
        """Write a file."""

    def file_exists(self, path: str) -> Any:
        """Whether there is a file."""

    def dir_exists(self, path: str) -> Any:
        """Whether there is a folder."""


class _File(NamedTuple):
    """A file as it was read; whoever gets it may change its dictionary and its list of cells."""

    notebook: dict[str, Any]
    cells: list[Cell]
    version: str
    writable: bool

    def lent(self) -> _File:
        return self._replace(notebook=dict(self.notebook), cells=list(self.cells))


class Files:
    """The files of notebooks, and the ids of cells whose file has none.

    Jupyter gives a cell without an id, or with one that another cell has, a random one at each
    reading. Those of the last reading are kept as long as the file is the same.

    Parameters
    ----------
    contents
        Jupyter's contents manager.
    """

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._ids: OrderedDict[str, tuple[str, list[str]]] = OrderedDict()
        self._kept: tuple[str, _File] | None = None
        self._forgetting: asyncio.TimerHandle | None = None

    async def read(self, path: str) -> _File:
        """Read a notebook; errors are those of `Document.read`."""
        if kept := await self._kept_of(path):
            return kept
        await self._check_size(path)
        try:
            model = await self._get(path)
        except Invalid:
            # Perhaps it is just being written.
            await asyncio.sleep(TORN_FOR)
            model = await self._get(path)
        version = _version(model)
        content = model["content"]
        cells: list[Cell] = [{**cell, "source": source_of(cell)} for cell in content["cells"]]
        file = _File(content, self._named(path, version, cells), version, model["writable"])
        if model.get("hash"):
            self._keep(path, file)
        return file.lent()

    async def _kept_of(self, path: str) -> _File | None:
        """The file as it was read last, if it is still the same."""
        if self._kept is None or self._kept[0] != path:
            return None
        file = self._kept[1]
        model = await self._get(path, content=False)
        if model.get("hash") != file.version:
            return None
        self._keep(path, file)
        return file._replace(writable=model["writable"]).lent()

    def _keep(self, path: str, file: _File) -> None:
        """Keep one file for a while: an agent reads the same one again and again."""
        self._forget()
        self._kept = path, file
        self._forgetting = asyncio.get_running_loop().call_later(KEPT_FOR, self._forget)

    def _forget(self) -> None:
        self._kept = None
        if self._forgetting:
            self._forgetting.cancel()

    async def version(self, path: str) -> str:
        """What tells whether the file is another one now."""
        return _version(await self._get(path, content=False))

    async def is_writable(self, path: str) -> bool:
        """Whether the file can be written; errors are those of `Document.read`."""
        return bool((await self._get(path, content=False))["writable"])

    async def write(self, path: str, notebook: dict[str, Any]) -> None:
        """Write a notebook; the contents manager does so atomically.

        Raises
        ------
        Conflict
            When it cannot be written, or something beside it would be overwritten by that.
        """
        await asyncio.to_thread(_write_through_no_link, self._contents, path)
        model = {"type": "notebook", "format": "json", "content": notebook}
        try:
            await ensure_async(self._contents.save(model, path))
        except HTTPError as error:
            if error.status_code == HTTPStatus.FORBIDDEN:
                raise read_only(path) from error
            raise not_saved(path) from error

    async def create(self, path: str, notebook: dict[str, Any]) -> None:
        """Write a notebook where there is none; the caller holds its lock.

        Raises
        ------
        NotFound
            When there is no such folder.
        Conflict
            When there is a file already, or the folder cannot be written.
        """
        folder = path.rpartition("/")[0]
        await asyncio.to_thread(_stay_inside, self._contents, path)
        if not await ensure_async(self._contents.dir_exists(folder)):
            raise NotFound("folder_not_found", f"There is no folder {folder}.", "Make it first.")
        if await ensure_async(self._contents.file_exists(path)):
            raise Conflict("notebook_exists", f"There is a file {path} already.", "Edit that one.")
        await self.write(path, notebook)

    async def folder(self, path: str) -> list[tuple[str, str]]:
        """What is in a folder: path and type of each entry, as the contents API has them.

        It is empty where the folder cannot be read, or leads out of the root.
        """
        try:
            await asyncio.to_thread(_stay_inside, self._contents, path)
            model = await ensure_async(self._contents.get(path, type="directory"))
        except (HTTPError, NotFound):
            return []
        return [(entry["path"].strip("/"), entry["type"]) for entry in model["content"]]

    async def _check_size(self, path: str) -> None:
        size = (await self._get(path, content=False, require_hash=False))["size"]
        # Not every storage knows it.
        if size is not None and size > LARGEST:
            raise Invalid(
                "notebook_too_large",
                f"{path} has {size / 2**20:.0f} MiB; more than {LARGEST / 2**20:.0f} are not read.",
                "Clear large outputs in JupyterLab, and save it.",
            )

    async def _get(
        self, path: str, content: bool = True, require_hash: bool = True
    ) -> dict[str, Any]:
        await asyncio.to_thread(_stay_inside, self._contents, path)
        try:
            model: dict[str, Any] = await ensure_async(
                self._contents.get(
                    path, content=content, type="notebook", require_hash=require_hash
                )
            )
        except HTTPError as error:
            raise _refusal(path, error) from error
        return model

    def _named(self, path: str, version: str, cells: list[Cell]) -> list[Cell]:
        known, ids = self._ids.pop(path, ("", []))
        if known == version:
            cells = [{**cell, "id": id} for cell, id in zip(cells, ids, strict=True)]
        else:
            cells = with_ids(cells)
        self._ids[path] = version, [cell["id"] for cell in cells]
        if len(self._ids) > REMEMBERED:
            self._ids.popitem(last=False)
        return cells


class DiskDocument(Document):
    """The file of a notebook.

    Parameters
    ----------
    path
        As the contents API has it.
    files
        Where it is read and written.
    lock
        Held while it is read or changed, by whoever in this server does so.
    """

    delivery = "disk"

    def __init__(self, path: str, files: Files, lock: asyncio.Lock) -> None:
        super().__init__(path)
        self._files = files
        self._lock = lock

    async def read(self, whole: Collection[str] | None = None) -> Snapshot:
        """The notebook as its file has it."""
        # Jupyter takes a file that it is just writing for broken, and puts back the one before.
        async with self._lock:
            file = await self._files.read(self.path)
        state = OpenNotebook(
            path=self.path, read_only=not file.writable, trusted=is_trusted(file.cells)
        )
        return snapshot(self.delivery, file.notebook, file.cells, state, whole)

    async def _change(self, change: Change) -> Applied | Mismatch:
        async with self._lock:
            for _ in range(ATTEMPTS):
                file = await self._files.read(self.path)
                if not file.writable:
                    raise read_only(self.path)
                result = apply(file.cells, change)
                if isinstance(result, Mismatch):
                    return result
                file.notebook["cells"] = file.cells
                minor = max(file.notebook["nbformat_minor"], MINOR_WITH_IDS)
                file.notebook["nbformat_minor"] = minor
                # What was written since is what the change has to fit to.
                if await self._files.version(self.path) == file.version:
                    await self._files.write(self.path, file.notebook)
                    return result
        raise Conflict(
            "notebook_changes_on_disk",
            f"Something else keeps writing {self.path}.",
            "Wait until it is done, then read the notebook again.",
        )

    async def save(self) -> None:
        """Do nothing: each change is written at once."""


def _version(model: dict[str, Any]) -> str:
    return str(model.get("hash") or model["last_modified"])


def _stay_inside(contents: Contents, path: str) -> None:
    """Refuse what a link leads to outside of the root, since an agent can make links."""
    root = getattr(contents, "root_dir", None)
    if root:
        root = os.path.realpath(root)
        file = os.path.realpath(os.path.join(root, path))
        if os.path.commonpath([root, file]) != root:
            raise _not_found(path)


def _write_through_no_link(contents: Contents, path: str) -> None:
    """Refuse where Jupyter would write into what an agent has put beside a notebook.

    It opens its backup of the file, and its checkpoint, by their names and follows links there,
    wherever they lead.
    """
    root = getattr(contents, "root_dir", None)
    if not root:
        return
    file = os.path.join(root, path)
    folder, name = os.path.split(file)
    folder = os.path.join(folder, getattr(contents.checkpoints, "checkpoint_dir", ""))
    checkpoint = os.path.join(folder, "-checkpoint".join(os.path.splitext(name)))
    if os.path.islink(file):
        file = os.path.join(os.path.dirname(file), os.readlink(file))
    backup = os.path.join(os.path.dirname(file), f".~{os.path.basename(file)}")
    for written in (backup, checkpoint):
        if os.path.lexists(written) and not stat.S_ISREG(os.lstat(written).st_mode):
            raise _in_the_way(path, written)
    if os.path.islink(folder):
        raise _in_the_way(path, folder)


def _in_the_way(path: str, written: str) -> Conflict:
    return Conflict(
        "link_beside_notebook",
        f"{path} was not written, because that would write through {os.path.basename(written)}, "
        "which is a link or no ordinary file.",
        "Remove that, if nobody needs it.",
    )


def _refusal(path: str, error: HTTPError) -> OpenHandsError:
    if error.status_code == HTTPStatus.NOT_FOUND:
        return _not_found(path)
    if error.status_code == HTTPStatus.FORBIDDEN:
        return OpenHandsError("notebook_forbidden", f"{path} may not be read.")
    return Invalid(
        "not_a_notebook",
        f"{path} cannot be read as a notebook.",
        "Open it in a text editor and mend its JSON, or restore an older version.",
    )


def _not_found(path: str) -> NotFound:
    return NotFound(
        "notebook_not_found",
        f"There is no notebook {path}.",
        "It may have been renamed, moved or deleted.",
    )
