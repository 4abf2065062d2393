"""The checkpoints of one workspace: taken, compared and brought back.

The workspace's ``.git`` and nested repositories are ordinary folders here: a commit is part of
what an agent did and is undone with it. That costs the size of the repository once, since Git
never changes an object. Permissions, empty folders and links are kept; hard links become files of
their own; owners, times, extended attributes and set-user-ID bits are not restored.

A file is taken as unchanged by its size, inode, modification and change time. Only a program that
writes through a memory map without flushing can escape this, for the half minute that the system
takes to flush it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from ...errors import Invalid
from .authorship import THEIRS, Effects, Step, effects_of, lead_back
from .model import (
    Change,
    Checkpoint,
    CheckpointDamaged,
    CheckpointError,
    Entry,
    RestorePlan,
    RestoreReport,
    Tree,
    Worker,
    compare,
    entry_at,
    is_folder,
)
from .objects import Hasher, chunks, digest_of, limited
from .repository import ALWAYS_KEPT, Cache, Repository, root_of
from .restore import Plan, Restorer
from .scan import DEFAULT_EXCLUDE, MAX_DEPTH, Exclude, Progress, Scan, open_file, parent_of
from .work import Work, WorkFile

FILE_CAP = 256 << 20
FREE_FLOOR = 512 << 20
TEXT_LIMIT = 1 << 20


class CheckpointStore:
    """Takes checkpoints of a workspace, compares them and brings them back.

    Everything blocks; any number of threads and processes may use the same folder.

    Parameters
    ----------
    folder
        Made when needed; must not lie in the workspace.
    workspace
        An existing folder.
    size_cap
        Bytes that the store may take; the oldest checkpoints go first, the newest two never do.
        One checkpoint may not add more.
    exclude
        Names, and paths if they hold a slash, as in a shell. Besides them, folders that say
        themselves that they are environments or caches are left out (`scan.MARKERS`).
    file_cap
        Bytes of the largest file whose content is kept.
    free_floor
        Bytes that must stay free on the disk.

    Raises
    ------
    Invalid
        When the folder lies in the workspace.
    """

    def __init__(
        self,
        folder: Path,
        workspace: Path,
        *,
        size_cap: int,
        exclude: Sequence[str] = DEFAULT_EXCLUDE,
        file_cap: int = FILE_CAP,
        free_floor: int = FREE_FLOOR,
    ) -> None:
        if folder.resolve().is_relative_to(workspace.resolve()):
            raise Invalid(
                "checkpoints_in_workspace",
                "Checkpoints cannot be kept in the workspace that they are of.",
                "Move the OpenHands home folder out of the workspace.",
            )
        self._repository = Repository(folder, size_cap, free_floor)
        self._work = WorkFile(folder)
        self.workspace = workspace
        self._exclude = Exclude(exclude)
        self._file_cap = file_cap

    def take(
        self,
        progress: Progress | None = None,
        *,
        keep: Collection[str] = (),
        begin: Worker | None = None,
        end: str = "",
    ) -> Checkpoint:
        """Keep the present state; gives the newest checkpoint again when nothing changed.

        Parameters
        ----------
        progress
            Called often with the bytes read and all bytes to read (0 while that is unknown).
            What it raises ends this, and no checkpoint is made.
        keep
            Checkpoints that must not go to make room, besides the newest two.
        begin
            Who is at work from here on.
        end
            Session that is so no longer.

        Raises
        ------
        CheckpointError
            When it cannot be kept; the code says why.
        """

        def goes_on(work: Work) -> Work:
            work = work.ended(end).seen()
            return work.begun(begin) if begin else work

        repository = self._repository
        with repository.writing(), self._open_workspace() as root:
            newest = repository.newest()
            cache = repository.cache(newest)
            objects = repository.objects()
            scan = Scan(
                objects,
                self._exclude,
                self._file_cap,
                cache.seen,
                self._is_known([newest.root] if newest else []),
                progress,
            )
            state = scan.run(root)
            if newest is None or newest.root != state.digest:
                by = self._work.read().since
                newest = _record(newest, state.digest, scan, objects.added, by)
                repository.add(newest)
            self._work.change(goes_on)
            now = Cache(cache.boot, state.digest, cache.total + objects.added, scan.settled())
            if now != cache:
                repository.save_cache(now)
                repository.make_room(keep)
            return newest

    def begin(self, worker: Worker) -> None:
        """Note who is at work from here on, where no checkpoint could be taken before."""
        with self._repository.locked(alone=True):
            self._work.change(lambda work: work.begun(worker))

    def end(self, session: str) -> bool:
        """Note that a session is no longer at work, unless a checkpoint has to say what it did.

        Returns
        -------
        bool
            False where others are at work, so that `take` has to end it.
        """
        with self._repository.locked(alone=True):
            if self._work.read().others(session):
                return False
            self._work.change(lambda work: work.ended(session))
            return True

    def give_up(self, session: str) -> None:
        """Note that a session is no longer at work, whoever else is."""
        with self._repository.locked(alone=True):
            self._work.change(lambda work: work.ended(session))

    def checkpoints(self) -> list[Checkpoint]:
        """All of them, the oldest first, without those whose record is damaged."""
        with self._repository.locked(alone=False):
            return self._repository.records()

    def between(self, before: str, after: str) -> list[str]:
        """Ids of the checkpoints after one, up to and with another, the oldest first."""
        with self._repository.locked(alone=False):
            return [record.id for record in self._repository.between(before, after)]

    def diff(
        self, before: str, after: str | None = None, *, progress: Progress | None = None
    ) -> list[Change]:
        """What changed from one checkpoint to another, or until now.

        Parameters
        ----------
        before, after
            The checkpoints; None for now.
        progress
            As with `take`, of a look at what is now.

        Raises
        ------
        NotFound
            When there is no such checkpoint.
        CheckpointError
            When it is damaged.
        """
        with self._repository.locked(alone=False):
            old = self._repository.state(before)
            if after is not None:
                new = self._repository.state(after)
                return list(compare(self._repository.objects().tree, old, new))
            with self._open_workspace() as root:
                scan, now = self._look(root, [old.digest], progress)
                return list(compare(self._loader(scan), old, now))

    def text(self, path: str, entry: Entry, limit: int = TEXT_LIMIT) -> str | None:
        """Text of a file that `diff` gave; None when it is no UTF-8 text, or no file.

        Parameters
        ----------
        path, entry
            A change's path, and its ``before`` or ``after``.
        limit
            Bytes of the longest text that is given.

        Raises
        ------
        Invalid
            When it is longer.
        CheckpointError
            When the content is damaged or was dropped, or was in no checkpoint and changed since.
        """
        if entry.kind != "file":
            return None
        if entry.size > limit:
            raise Invalid(
                "text_too_long",
                f"The file holds {entry.size:,} bytes; at most {limit:,} are shown.",
                "Open the file itself.",
            )
        with self._repository.locked(alone=False):
            objects = self._repository.objects()
            if objects.has(entry.digest, entry.size):
                content = b"".join(objects.read(entry.digest))
            else:
                content = self._read_now(path, entry)
        try:
            return None if b"\0" in content else content.decode()
        except UnicodeDecodeError:
            return None

    def effects(self, session: str, before: str, after: str | None = None) -> Effects:
        """What a session did to the files from one checkpoint to another, or until now.

        Errors are those of `diff`.
        """
        with self._repository.locked(alone=False):
            state = self._repository.state(before)
            if after is not None:
                self._repository.state(after)  # So that it fails where that is gone.
            steps = []
            for record in self._repository.between(before, after):
                previous, state = state, root_of(record)
                steps.append(Step(previous, state, record.by))
            if after is not None:
                return effects_of(self._repository.objects().tree, session, steps)
            with self._open_workspace() as root:
                scan, now = self._look(root, [state.digest])
                steps.append(Step(state, now, self._work.read().since))
                return effects_of(self._loader(scan), session, steps)

    def restore(
        self,
        target: str,
        effects: Effects | None = None,
        *,
        expected: str | None = None,
        force_paths: Collection[str] = (),
    ) -> RestoreReport:
        """Bring the workspace back to a checkpoint, or take back what one session did since.

        What is excluded or was left out of the checkpoint stays as it is. The state that this
        overwrites is not kept by itself: take a checkpoint before, or say what is expected.
        When a restore was killed, the same call completes it.

        Parameters
        ----------
        target
            The checkpoint.
        effects
            What is to be taken back; None for everything. What is in doubt is a conflict.
        expected
            A checkpoint that the workspace should be like. Paths that were changed since are
            conflicts and left alone.
        force_paths
            Paths, with all below them, to be restored in spite of that.

        Raises
        ------
        NotFound
            When there is no such checkpoint.
        CheckpointError
            When something that is needed from it is damaged; nothing was changed then.
        """
        with self._repository.locked(alone=True), self._open_workspace() as root:
            wanted = self._repository.state(target)
            assumed = self._repository.state(expected) if expected is not None else None
            known = [state.digest for state in (wanted, assumed) if state]
            scan, now = self._look(root, known)
            edits = {}
            if assumed:
                edits = {edit.path: edit for edit in compare(self._loader(scan), assumed, now)}
            for _ in range(MAX_DEPTH):
                changes = _changes_back(self._loader(scan), now, wanted, effects)
                plan = Plan(changes, edits, _doubts(effects), force_paths)
                restorer = Restorer(root, self._repository.objects(), scan)
                if not restorer.unlock(plan.changes):
                    break
                scan, now = self._look(root, known)
            self._check_content(plan.changes)
            report = restorer.apply(plan.changes)
            report.conflicts[:0] = plan.conflicts
            report.failed[:0] = plan.failed
            return report

    def plan(
        self, target: str, effects: Effects | None = None, *, expected: str | None = None
    ) -> RestorePlan:
        """What `restore` would do now; nothing is changed.

        Parameters and errors are those of `restore`.
        """
        with self._repository.locked(alone=False), self._open_workspace() as root:
            wanted = self._repository.state(target)
            assumed = self._repository.state(expected) if expected is not None else None
            scan, now = self._look(root, [state.digest for state in (wanted, assumed) if state])
            load = self._loader(scan)
            changes = list(_changes_back(load, now, wanted, effects))
            edits = {edit.path: edit for edit in compare(load, assumed, now)} if assumed else {}
            all = Plan(changes, {}, {}, ())
            careful = Plan(changes, edits, _doubts(effects), ())
            return RestorePlan(
                changes=all.changes,
                conflicts=careful.reasons,
                failed=all.failed,
                others=sorted(effects.others) if effects else [],
            )

    def prune(self, keep: Collection[str]) -> None:
        """Drop all checkpoints but these and the newest two."""
        with self._repository.writing():
            for id in self._repository.ids()[:-ALWAYS_KEPT]:
                if id not in keep:
                    self._repository.drop(id)
            self._repository.collect()

    def _check_content(self, changes: list[Change]) -> None:
        objects = self._repository.objects()
        for change in changes:
            entry = change.after
            if entry and entry.kind == "file" and not objects.has(entry.digest, entry.size):
                raise CheckpointDamaged

    @contextmanager
    def _open_workspace(self) -> Iterator[int]:
        try:
            root = os.open(self.workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise CheckpointError(
                "checkpoint_no_workspace",
                f"The workspace {self.workspace} cannot be read: {error.strerror}.",
                "Bring the folder back.",
            ) from error
        try:
            yield root
        finally:
            os.close(root)

    def _look(
        self, root: int, known: list[bytes], progress: Progress | None = None
    ) -> tuple[Scan, Entry]:
        """The present state, of which nothing is stored."""
        seen = self._repository.cache(self._repository.newest()).seen
        scan = Scan(Hasher(), self._exclude, self._file_cap, seen, self._is_known(known), progress)
        return scan, scan.run(root)

    def _loader(self, scan: Scan) -> Callable[[bytes], Tree]:
        objects = self._repository.objects()
        return lambda digest: scan.trees[digest] if digest in scan.trees else objects.tree(digest)

    def _is_known(self, roots: list[bytes]) -> Callable[[str], bool]:
        """Whether one of these states has a folder at a path that is not empty."""

        def holds(root: bytes, path: str) -> bool:
            load = self._repository.objects().tree
            entry = entry_at(load, Entry("folder", 0, 0, root), path)
            return entry is not None and is_folder(entry) and bool(load(entry.digest))

        def is_known(path: str) -> bool:
            try:
                return any(holds(root, path) for root in roots)
            except CheckpointDamaged:
                return False

        return is_known

    def _read_now(self, path: str, entry: Entry) -> bytes:
        try:
            with self._open_workspace() as root, parent_of(path, root) as (parent, name):
                file = open_file(name, parent)
                try:
                    content = b"".join(limited(chunks(file), entry.size))
                finally:
                    os.close(file)
        except OSError:
            content = b""
        if digest_of(content) != entry.digest:
            raise CheckpointError(
                "checkpoint_outdated",
                "The file changed since it was compared.",
                "Compare again.",
            )
        return content


def _changes_back(
    load: Callable[[bytes], Tree], now: Entry, wanted: Entry, effects: Effects | None
) -> Iterator[Change]:
    if effects is None:
        return compare(load, now, wanted)
    return lead_back(load, now, wanted, effects)


def _doubts(effects: Effects | None) -> dict[str, str]:
    return dict.fromkeys(effects.others, THEIRS) | effects.doubts if effects else {}


def _record(
    newest: Checkpoint | None, root: bytes, scan: Scan, stored: int, by: Sequence[Worker]
) -> Checkpoint:
    number = int(newest.id.split("-")[0]) + 1 if newest else 1
    return Checkpoint(
        # Numbers may come back when the system crashes, so they are no ids by themselves.
        id=f"{number:08}-{root.hex()[:8]}",
        time=datetime.now(UTC),
        root=root,
        files=scan.files,
        size=scan.size,
        stored=stored,
        left_out=scan.left_out,
        left_out_count=scan.left_out_count,
        by=list(by),
    )
