"""What checkpoints are made of, and how two states of a workspace are compared."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Literal

import msgspec

from ...errors import OpenHandsError

EntryKind = Literal["file", "folder", "link", "other"]
ChangeKind = Literal["added", "deleted", "modified", "mode", "link", "type"]


class CheckpointError(OpenHandsError):
    """A checkpoint could not be taken or used.

    Parameters
    ----------
    code
        ``checkpoint_disk_full``, ``checkpoint_too_large``, ``checkpoint_damaged``,
        ``checkpoint_unwritable`` or ``checkpoint_no_workspace``.
    message, hint
        As in `OpenHandsError`.
    """


class StoreFull(CheckpointError):
    """There is no room for a checkpoint: the disk is full, or the workspace too large."""

    status = 507


class CheckpointDamaged(CheckpointError):
    """Something that belongs to a checkpoint is missing or not what it was."""

    def __init__(self) -> None:
        super().__init__(
            "checkpoint_damaged",
            "Part of the checkpoint is missing or damaged.",
            "Choose another checkpoint. The next one will be whole again.",
        )


class Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What one name in a folder stood for.

    Attributes
    ----------
    kind
        ``other`` is what a checkpoint holds no content of: special files, files over the limit,
        what could not be read.
    mode
        Permission bits; 0 for links.
    size
        Bytes of a file.
    digest
        Hash of a file's content or of a folder's tree; where a link points; of ``other`` just
        enough to see a change.
    """

    kind: EntryKind
    mode: int
    size: int
    digest: bytes


Tree = dict[str, Entry]
"""What a folder holds, by name. Names are as Python has them: odd bytes are surrogates."""


class Note(msgspec.Struct, frozen=True):
    """A path and a sentence about it, both to be shown."""

    path: str
    reason: str

    @classmethod
    def on(cls, path: str, reason: str) -> Note:
        """A note whose path can be written as UTF-8, whatever the file's name holds."""
        return cls(os.fsencode(path).decode(errors="backslashreplace"), reason)


class Worker(msgspec.Struct, frozen=True):
    """A session that was at work in the workspace.

    Attributes
    ----------
    session
        Its id.
    path
        What alone it could change, with the folders that it makes for it; None for anything.
    """

    session: str
    path: str | None = None


class Checkpoint(msgspec.Struct, frozen=True):
    """A state that the workspace was in.

    Attributes
    ----------
    id
        Sorts by age.
    time
        When it was first seen, UTC.
    root
        Hash of the workspace's tree; equal where the states are equal.
    files, size
        Number of files in it and their bytes together.
    stored
        Bytes that the store grew by.
    left_out
        What it holds no content of, and why; at most `MAX_NOTES` of `left_out_count`.
    by
        Who was at work since the checkpoint before it.
    """

    id: str
    time: datetime
    root: bytes
    files: int
    size: int
    stored: int
    left_out: list[Note]
    left_out_count: int
    by: list[Worker] = []


class Change(msgspec.Struct, frozen=True):
    """One path that differs between two states.

    Attributes
    ----------
    path
        Relative to the workspace; odd bytes in it are surrogates.
    kind
        ``type`` says that a file, folder or link became another of these, ``link`` that a link
        points elsewhere, ``mode`` that nothing but the permissions changed.
    before, after
        None where there was nothing.
    """

    path: str
    kind: ChangeKind
    before: Entry | None
    after: Entry | None


class RestorePlan(msgspec.Struct):
    """What a restore would do now.

    Attributes
    ----------
    changes
        All that lead back, those in conflict included: from now to then.
    conflicts
        Paths of those that somebody else changed, or may have, and why they are left alone.
    failed
        What cannot be restored, and why.
    others
        Paths that other sessions alone changed meanwhile, which therefore stay as they are.
    """

    changes: list[Change]
    conflicts: dict[str, str]
    failed: list[Note]
    others: list[str] = []


class RestoreReport(msgspec.Struct):
    """What a restore did.

    Attributes
    ----------
    restored
        Paths that are now as in the checkpoint.
    removed
        Paths that the checkpoint did not have.
    conflicts
        Changed by somebody else, or perhaps so, and therefore left alone.
    failed
        Could not be restored, and why.
    """

    restored: list[str] = []
    removed: list[str] = []
    conflicts: list[Note] = []
    failed: list[Note] = []


def is_folder(entry: Entry | None) -> bool:
    """Whether there is a folder."""
    return entry is not None and entry.kind == "folder"


def entry_at(load: Callable[[bytes], Tree], root: Entry, path: str) -> Entry | None:
    """What is at a path below a folder; None where there is nothing."""
    entry: Entry | None = root
    for name in path.split("/"):
        if entry is None or not is_folder(entry):
            return None
        entry = load(entry.digest).get(name)
    return entry


def compare(
    load: Callable[[bytes], Tree], before: Entry | None, after: Entry | None, path: str = ""
) -> Iterator[Change]:
    """What differs below `path`, a folder ahead of what it holds; equal subtrees are not read."""
    old = load(before.digest) if before and is_folder(before) else {}
    new = load(after.digest) if after and is_folder(after) else {}
    for name in sorted(old.keys() | new.keys()):
        left, right = old.get(name), new.get(name)
        if left == right:
            continue
        inner = f"{path}/{name}" if path else name
        if not (left and right and left.kind == right.kind == "folder" and left.mode == right.mode):
            yield Change(inner, kind_of(left, right), left, right)
        if is_folder(left) or is_folder(right):
            yield from compare(load, left, right, inner)


def kind_of(before: Entry | None, after: Entry | None) -> ChangeKind:
    """What kind of change leads from one to the other, which are not the same."""
    if before is None:
        return "added"
    if after is None:
        return "deleted"
    if before.kind != after.kind:
        return "type"
    if before.kind == "link":
        return "link"
    return "mode" if before.kind == "folder" or before.digest == after.digest else "modified"
