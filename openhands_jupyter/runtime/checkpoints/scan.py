"""Reads the state of a workspace, whose owner may be hostile.

Every folder is opened from the one that it lies in, and no link is ever followed: so nothing
outside of the workspace is read, whatever is swapped for a link meanwhile.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import translate
from itertools import islice

from .model import Entry, Note, StoreFull, Tree
from .objects import Hasher

DEFAULT_EXCLUDE = (
    "__pycache__",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".nox",
    ".pytest_cache",
    ".ruff_cache",
    ".tox",
    "node_modules",
)
MARKERS = frozenset({"CACHEDIR.TAG", "conda-meta", "pyvenv.cfg"})
"""Names in a folder that say that it is a cache or an environment, which can be made again."""
TEMPORARY = ".openhands-restoring-"
"""How the names of files begin that a restore has not put in place yet."""
MAX_DEPTH = 100
"""Levels of folders; each one needs a file descriptor and some of Python's stack."""
MAX_ENTRIES = 100_000
"""More would make every action wait for half a second."""
MAX_NOTES = 100
RACY_NS = 2_000_000_000
"""A file changed so shortly before it was read may change again without a new time stamp."""
QUIET_BYTES = 32 << 20
"""Bytes read before the whole is measured to show progress: about a tenth of a second."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

Stamp = tuple[int, int, int, int]
Seen = dict[int, tuple[Stamp, bytes]]
"""The hash of each file by its inode, with what tells whether the file is still the same."""
Progress = Callable[[int, int], None]
"""Called with the bytes read and all bytes to read, 0 while that is unknown."""


def open_folder(name: str, parent: int) -> int:
    """Open a folder in an open folder; fails on links."""
    return os.open(name, _FOLDER, dir_fd=parent)


def open_file(name: str, parent: int) -> int:
    """Open a file in an open folder; fails on links and on what is no file."""
    file = os.open(name, _FILE, dir_fd=parent)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "it is no file")
    return file


@contextmanager
def parent_of(path: str, root: int) -> Iterator[tuple[int, str]]:
    """The open folder that a path lies in, and the name in it; no part may be a link or ``..``."""
    *folders, name = path.split("/")
    if ".." in (*folders, name):
        raise OSError(errno.EINVAL, "it leads out of the workspace")
    folder = open_folder(".", root)
    try:
        for inner in folders:
            outer, folder = folder, open_folder(inner, folder)
            os.close(outer)
        yield folder, name
    finally:
        os.close(folder)


def stamp_of(info: os.stat_result) -> Stamp:
    """What changes when a file's content changes; nobody can set the change time (ctime) back."""
    return info.st_dev, info.st_size, info.st_mtime_ns, info.st_ctime_ns


class Exclude:
    """What is no part of checkpoints.

    Parameters
    ----------
    patterns
        As in a shell; those with a slash are for paths from the workspace on, others for names.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._names = _any_of([pattern for pattern in patterns if "/" not in pattern])
        self._paths = _any_of([pattern.strip("/") for pattern in patterns if "/" in pattern])

    def __call__(self, name: str, path: str) -> bool:
        """Whether this is excluded."""
        return bool(
            (self._names and self._names.match(name)) or (self._paths and self._paths.match(path))
        )


def _any_of(patterns: list[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(map(translate, patterns))) if patterns else None


class Scan:
    """One pass over a workspace.

    Parameters
    ----------
    sink
        Where content goes.
    exclude, file_cap
        What is left out: names, and files of more bytes.
    cached
        Files that need not be read unless they changed.
    known
        Whether the folder at a path is part of earlier checkpoints: it stays so, whatever
        markers somebody puts in it.
    progress
        What it raises ends the scan.

    Attributes
    ----------
    seen
        Every file that did not change while it was read.
    trees
        Every folder's tree by its hash.
    temporary
        Files that a killed restore left.
    """

    def __init__(
        self,
        sink: Hasher,
        exclude: Exclude,
        file_cap: int,
        cached: Seen,
        known: Callable[[str], bool],
        progress: Progress | None = None,
    ) -> None:
        self._sink = sink
        self._exclude = exclude
        self._file_cap = file_cap
        self._cached = cached
        self._known = known
        self._progress = progress
        self._done = self._total = 0
        self._workspace = -1
        self._started = time.time_ns()
        self.seen: Seen = {}
        self.trees: dict[bytes, Tree] = {}
        self.temporary: list[str] = []
        self.files = self.size = self.entries = 0
        self.left_out: list[Note] = []
        self.left_out_count = 0

    def run(self, workspace: int) -> Entry:
        """The state of the workspace, an open folder.

        Raises
        ------
        StoreFull
            When it has too many files, or what is new could not be stored.
        """
        self._workspace = workspace
        root = self._folder(workspace, "", 0)
        assert root is not None
        return Entry("folder", 0, 0, root)

    def settled(self) -> Seen:
        """Of `seen`, what a later scan may rely on."""
        limit = self._started - RACY_NS
        return {inode: item for inode, item in self.seen.items() if item[0][3] < limit}

    def still(self, entry: Entry | None, name: str, parent: int) -> bool:
        """Whether a name still stands for what it did in the scan, without reading files again.

        Of a folder only that it is one.
        """
        try:
            info = os.lstat(name, dir_fd=parent)
        except FileNotFoundError:
            return entry is None
        match entry:
            case Entry(kind="file", digest=digest):
                # Without the change time: it is another one once a second hard link is gone.
                stamp, found = self.seen.get(info.st_ino, ((), b""))
                return stamp[:3] == stamp_of(info)[:3] and found == digest
            case Entry(kind="folder"):
                return stat.S_ISDIR(info.st_mode)
            case Entry(kind="link"):
                return stat.S_ISLNK(info.st_mode) and _link(name, parent) == entry
            case _:
                return _other(info) == entry

    def _folder(self, folder: int, path: str, depth: int) -> bytes | None:
        """Digest of a folder's tree; None when a marker says that it is excluded."""
        tree: Tree = {}
        self._advance(0)
        with os.scandir(folder) as found:
            items = list(islice(found, MAX_ENTRIES + 1))
        if path and any(item.name in MARKERS for item in items) and not self._known(path):
            return None
        for item in items:
            name = item.name
            inner = f"{path}/{name}" if path else name
            if name.startswith(TEMPORARY):
                self.temporary.append(inner)
            elif self._exclude(name, inner):
                self._leave_out(inner, "It is excluded.")
            elif entry := self._entry(item, folder, inner, depth):
                tree[name] = entry
        digest = self._sink.put_tree(tree)
        self.trees[digest] = tree
        return digest

    def _entry(self, item: os.DirEntry[str], folder: int, path: str, depth: int) -> Entry | None:
        self.entries += 1
        if self.entries > MAX_ENTRIES:
            raise StoreFull(
                "checkpoint_too_large",
                f"The workspace has more than {MAX_ENTRIES:,} files, too many for checkpoints.",
                "Exclude folders that hold data.",
            )
        info = None
        try:
            info = item.stat(follow_symlinks=False)
            if stat.S_ISREG(info.st_mode):
                return self._file(info, item.name, folder)
            if stat.S_ISDIR(info.st_mode):
                return self._subfolder(info, item.name, folder, path, depth + 1)
            if stat.S_ISLNK(info.st_mode):
                return _link(item.name, folder)
            reason = "It is a pipe, a socket or a device."
        except FileNotFoundError:
            return None  # It went away just now.
        except OSError as error:
            reason = f"It could not be read: {error.strerror}."
            if error.errno == errno.EFBIG:
                reason = f"It is larger than {self._file_cap / 1e6:,.0f} MB."
        self._leave_out(path, reason)
        return _other(info) if info else Entry("other", 0, 0, b"")

    def _file(self, info: os.stat_result, name: str, folder: int) -> Entry:
        stamp = stamp_of(info)
        seen = self._cached.get(info.st_ino)
        if seen and seen[0] == stamp:
            self.seen[info.st_ino] = seen
            digest, size = seen[1], info.st_size
        else:
            digest, size, info = self._read(name, folder)
        self.files += 1
        self.size += size
        return Entry("file", stat.S_IMODE(info.st_mode), size, digest)

    def _read(self, name: str, folder: int) -> tuple[bytes, int, os.stat_result]:
        file = open_file(name, folder)
        try:
            before = os.fstat(file)
            if before.st_size > self._file_cap:
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
            digest, size = self._sink.put_file(file, self._file_cap)
            after = os.fstat(file)
        finally:
            os.close(file)
        if stamp_of(before) == stamp_of(after):
            self.seen[after.st_ino] = (stamp_of(after), digest)
        self._advance(size)
        return digest, size, after

    def _subfolder(
        self, info: os.stat_result, name: str, folder: int, path: str, depth: int
    ) -> Entry | None:
        if depth > MAX_DEPTH:
            raise OSError(errno.ELOOP, "it lies in too many folders")
        inner = open_folder(name, folder)
        try:
            digest = self._folder(inner, path, depth)
        finally:
            os.close(inner)
        if digest is None:
            self._leave_out(path, "It is a cache or an environment, which can be made again.")
            return None
        return Entry("folder", stat.S_IMODE(info.st_mode), 0, digest)

    def _leave_out(self, path: str, reason: str) -> None:
        self.left_out_count += 1
        if len(self.left_out) < MAX_NOTES:
            self.left_out.append(Note.on(path, reason))

    def _advance(self, size: int) -> None:
        if self._progress:
            self._done += size
            if self._done > QUIET_BYTES and not self._total:
                self._total = self._measure()
            self._progress(self._done, max(self._total, self._done) if self._total else 0)

    def _measure(self) -> int:
        """Bytes that this scan has to read in all."""
        meter = _Meter()
        scan = Scan(meter, self._exclude, self._file_cap, self._cached, self._known)
        # Not a duplicate: those share their place in the list of names.
        again = open_folder(".", self._workspace)
        try:
            scan.run(again)
        finally:
            os.close(again)
        return meter.size


class _Meter(Hasher):
    size = 0

    def put_file(self, file: int, limit: int) -> tuple[bytes, int]:
        self.size += os.fstat(file).st_size
        return b"", 0


def _link(name: str, parent: int) -> Entry:
    return Entry("link", 0, 0, os.fsencode(os.readlink(name, dir_fd=parent)))


def _other(info: os.stat_result) -> Entry:
    mode = stat.S_IMODE(info.st_mode)
    return Entry("other", mode, info.st_size, b"%d" % info.st_mtime_ns)
