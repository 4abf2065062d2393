"""Puts a workspace back into an earlier state, while its owner may be hostile.

As in the scan, every folder is opened from the one that it lies in, no link is followed, and what
is changed is named by its folder's descriptor. A file is written beside its place and renamed, so
it is whole at any time; nothing is ever written through a link, hard or symbolic.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate

from .model import Change, CheckpointError, Entry, Note, RestoreReport, is_folder
from .objects import ObjectStore, write_all
from .scan import TEMPORARY, Scan, open_folder, parent_of

CACHES = frozenset({"__pycache__", ".ipynb_checkpoints", ".mypy_cache", ".pytest_cache"})
"""Names of folders that go with the folder that they are in, when it was not there before."""

EDITED = "Somebody changed it in the meantime."
_CHANGED = "It was changed at the same moment."


class _Conflict(Exception):
    """Somebody changed a path between the scan and now."""


def below(paths: Iterable[str]) -> Callable[[str], bool]:
    """Whether a path is one of these, or lies in one."""
    roots = frozenset(paths)
    return lambda path: not roots.isdisjoint(_lineage(path))


def _lineage(path: str) -> Iterable[str]:
    """A path with all folders that it lies in, from the outermost on."""
    return accumulate(path.split("/"), "{}/{}".format)


class Plan:
    """Which of the changes that lead back are to be made.

    Parameters
    ----------
    changes
        All that lead back.
    edits
        What somebody changed since the expected checkpoint, by path.
    doubts
        What may be somebody else's for another reason, which is the value.
    force_paths
        Where that does not count.

    Attributes
    ----------
    changes, conflicts, failed
        What to do, and what is not done and why.
    reasons
        Why a path is in conflict.
    """

    def __init__(
        self,
        changes: Iterable[Change],
        edits: Mapping[str, Change],
        doubts: Mapping[str, str],
        force_paths: Collection[str],
    ) -> None:
        self.changes: list[Change] = []
        self.conflicts: list[Note] = []
        self.failed: list[Note] = []
        self.reasons: dict[str, str] = {}
        forced = below(force_paths)
        unknown: list[str] = []
        for change in changes:
            path, after = change.path, change.after
            if below(unknown[-1:])(path):
                continue
            edited = path in edits and not _half_done(change, edits[path])
            if after and after.kind == "other":
                unknown.append(path)
                self.failed.append(Note.on(path, "The checkpoint holds no content of it."))
            elif (edited or path in doubts) and not forced(path):
                self.reasons[path] = EDITED if edited else doubts[path]
                self.conflicts.append(Note.on(path, self.reasons[path]))
            else:
                self.changes.append(change)


def _half_done(change: Change, edit: Change) -> bool:
    """Whether it looks like what a killed restore leaves, and nothing is lost by going on."""
    before, after = change.before, change.after
    if before is None:  # One of a folder and something else went, to make place for the other.
        return is_folder(edit.before) != is_folder(after)
    return bool(
        after and before.kind == after.kind == "folder" and before.mode == after.mode | 0o700
    )


class Restorer:
    """Applies changes that a scan showed to be wanted.

    Parameters
    ----------
    root
        The workspace, an open folder; stays open.
    objects
        Has the content.
    scan
        What the workspace is like now.
    """

    def __init__(self, root: int, objects: ObjectStore, scan: Scan) -> None:
        self._root = root
        self._objects = objects
        self._scan = scan
        self._modes: dict[str, int] = {}
        self.report = RestoreReport()

    def apply(self, changes: Sequence[Change]) -> RestoreReport:
        """Make every ``before`` an ``after``; a folder stands ahead of what it holds."""
        for path in self._scan.temporary:
            with contextlib.suppress(OSError), parent_of(path, self._root) as (parent, name):
                _discard(parent, name)
        for change in reversed(changes):
            if change.after is None:
                self._try(self._remove, change)
            elif is_folder(change.before) and not is_folder(change.after):
                self._try(self._put, change)
        for change in changes:
            if change.after and not is_folder(change.before):
                self._try(self._put, change)
            elif is_folder(change.after):
                self._try(self._change_mode, change)
        for path in sorted(self._modes, reverse=True):
            self._set_mode(path, self._modes[path])
        return self.report

    def unlock(self, changes: Sequence[Change]) -> bool:
        """Let us read the folders that hide what would have to change; whether there was any."""
        found = False
        for change in changes:
            before = change.before
            hidden = before and (
                before.kind == "other" or (before.kind == "folder" and before.mode & 0o500 != 0o500)
            )
            if hidden and (change.after is None or is_folder(change.after)):
                with (
                    contextlib.suppress(OSError),
                    parent_of(change.path, self._root) as (parent, name),
                ):
                    found |= _unlock(parent, name)
        return found

    def _try(self, step: Callable[[Change, int, str], None], change: Change) -> None:
        path = change.path
        try:
            with parent_of(path, self._root) as (parent, name):
                if not self._scan.still(change.before, name, parent):
                    raise _Conflict
                self._make_writable(parent, path.rpartition("/")[0])
                step(change, parent, name)
        except _Conflict:
            self.report.conflicts.append(Note.on(path, _CHANGED))
        except CheckpointError as error:
            self._fail(path, error.message)
        except RecursionError:
            self._fail(path, "It holds too many folders in each other.")
        except OSError as error:
            reason = f"It could not be restored: {error.strerror}."
            if error.errno == errno.ENOTEMPTY:
                reason = "The folder still holds files that are in no checkpoint, or new ones."
            self._fail(path, reason)
        else:
            done = self.report.restored if change.after else self.report.removed
            done.append(path)

    def _fail(self, path: str, reason: str) -> None:
        self.report.failed.append(Note.on(path, reason))

    def _remove(self, change: Change, parent: int, name: str) -> None:
        if is_folder(change.before):
            self._modes.pop(change.path, None)
            _remove_folder(parent, name)
        else:
            os.unlink(name, dir_fd=parent)

    def _change_mode(self, change: Change, parent: int, name: str) -> None:
        assert change.after is not None
        self._modes[change.path] = change.after.mode

    def _put(self, change: Change, parent: int, name: str) -> None:
        """Make something beside its place, and give it its name unless that changed meanwhile."""
        before, after = change.before, change.after
        assert after is not None
        temporary = TEMPORARY + secrets.token_hex(8)
        try:
            if after.kind == "folder":
                _make_folder(after, parent, temporary)
            elif after.kind == "link":
                os.symlink(after.digest, os.fsencode(temporary), dir_fd=parent)
            else:
                self._write(after, parent, temporary)
            if not self._scan.still(before, name, parent):
                raise _Conflict
            if is_folder(before):
                self._modes.pop(change.path, None)
                _remove_folder(parent, name)
            elif before and is_folder(after):
                os.unlink(name, dir_fd=parent)
            os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
            if is_folder(after):
                self._modes[change.path] = after.mode
        except BaseException:
            with contextlib.suppress(OSError):
                _discard(parent, temporary)
            raise

    def _write(self, entry: Entry, parent: int, name: str) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(name, flags, 0o600, dir_fd=parent)
        try:
            for chunk in self._objects.read(entry.digest):
                write_all(file, chunk)
            _give_to_owner(file, parent)
            # Whoever restores may be another user, who must not lend his rights.
            os.fchmod(file, entry.mode & 0o777)
        finally:
            os.close(file)

    def _make_writable(self, folder: int, path: str) -> None:
        info = os.fstat(folder)
        if path and info.st_uid == os.geteuid() and info.st_mode & 0o700 != 0o700:
            os.fchmod(folder, stat.S_IMODE(info.st_mode) | 0o700)
            self._modes.setdefault(path, stat.S_IMODE(info.st_mode))

    def _set_mode(self, path: str, mode: int) -> None:
        try:
            with parent_of(path, self._root) as (parent, name):
                folder = open_folder(name, parent)
                try:
                    os.fchmod(folder, mode)
                finally:
                    os.close(folder)
        except OSError as error:
            self._fail(path, f"Its permissions could not be restored: {error.strerror}.")


def _make_folder(entry: Entry, parent: int, name: str) -> None:
    os.mkdir(name, 0o700, dir_fd=parent)
    folder = open_folder(name, parent)
    try:
        _give_to_owner(folder, parent)
        os.fchmod(folder, entry.mode | 0o700)
    finally:
        os.close(folder)


def _remove_folder(parent: int, name: str) -> None:
    """Remove a folder that holds nothing, or nothing but caches."""
    folder = open_folder(name, parent)
    try:
        names = os.listdir(folder)
        if CACHES.issuperset(names):
            for cache in names:
                shutil.rmtree(cache, dir_fd=folder)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=parent)


def _discard(parent: int, name: str) -> None:
    """Remove a file, a link or an empty folder."""
    try:
        os.unlink(name, dir_fd=parent)
    except IsADirectoryError:
        os.rmdir(name, dir_fd=parent)


def _give_to_owner(file: int, parent: int) -> None:
    """What root restores belongs to whom the folder belongs to."""
    if os.geteuid() == 0:
        owner = os.fstat(parent)
        os.fchown(file, owner.st_uid, owner.st_gid)


def _unlock(parent: int, name: str) -> bool:
    # Opening with O_PATH needs no permission, and /proc leads to what was opened, not to a link.
    handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISDIR(mode) or mode & 0o700 == 0o700:
            return False
        os.chmod(f"/proc/self/fd/{handle}", stat.S_IMODE(mode) | 0o700)
        return True
    finally:
        os.close(handle)
