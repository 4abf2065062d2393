"""Content by its hash, a file each."""

from __future__ import annotations

import errno
import os
from collections.abc import Container, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from itertools import chain
from pathlib import Path

import msgspec

from .model import CheckpointDamaged, CheckpointError, Entry, StoreFull, Tree

CHUNK = 1 << 20
DIGEST_SIZE = 32
INCOMING = "incoming"

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[tuple[bytes, Entry]]).decode


def digest_of(content: bytes) -> bytes:
    """The hash that content is known by."""
    return blake2b(content, digest_size=DIGEST_SIZE).digest()


def chunks(file: int) -> Iterator[bytes]:
    """What an open file still holds."""
    while chunk := os.read(file, CHUNK):
        yield chunk


class Hasher:
    """Gives the hashes that content would be stored under, and stores nothing."""

    def put(self, content: bytes) -> bytes:
        """The hash of `content`."""
        return digest_of(content)

    def put_tree(self, tree: Tree) -> bytes:
        """The hash of a folder's tree."""
        return self.put(_encode(sorted((os.fsencode(name), entry) for name, entry in tree.items())))

    def put_file(self, file: int, limit: int) -> tuple[bytes, int]:
        """Hash and size of an open file.

        Raises
        ------
        OSError
            When it cannot be read, or holds more than `limit` bytes (``EFBIG``).
        """
        head = os.read(file, CHUNK)
        more = os.read(file, CHUNK) if head else b""
        if not more and len(head) <= limit:
            return self.put(head), len(head)
        return self._put_chunks(limited(chain((head, more), chunks(file)), limit))

    def _put_chunks(self, content: Iterator[bytes]) -> tuple[bytes, int]:
        digest, size = blake2b(digest_size=DIGEST_SIZE), 0
        for chunk in content:
            digest.update(chunk)
            size += len(chunk)
        return digest.digest(), size


def limited(content: Iterator[bytes], limit: int) -> Iterator[bytes]:
    """The chunks of `content`, which must not hold more than `limit` bytes."""
    for chunk in content:
        limit -= len(chunk)
        if limit < 0:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        yield chunk


class ObjectStore(Hasher):
    """Stores content, uncompressed, so that a file cut short by a crash shows by its size.

    Compression (zlib at level 1) halves the disk space of a source tree, but makes the first
    checkpoint five times slower. Used by one process at a time.

    Parameters
    ----------
    folder
        Where the files lie.
    cap
        Bytes that may be added.
    free_floor
        Bytes that must stay free on the disk.
    """

    def __init__(self, folder: str | Path, cap: int, free_floor: int) -> None:
        self._folder = str(folder)
        self._incoming = f"{folder}/{INCOMING}"
        self._cap = cap
        self._free_floor = free_floor
        self.added = 0

    def put(self, content: bytes) -> bytes:
        """Keep `content`; the same content is kept once.

        Raises
        ------
        CheckpointError
            When there is no room for it, or it cannot be written.
        """
        digest = digest_of(content)
        if not self.has(digest, len(content)):
            self._receive(iter([content]))
            self._accept(digest, len(content))
        return digest

    def has(self, digest: bytes, size: int) -> bool:
        """Whether content is here and whole, as far as its size tells."""
        with store_errors():
            try:
                return os.stat(self._path(digest)).st_size == size
            except FileNotFoundError:
                return False

    def read(self, digest: bytes) -> Iterator[bytes]:
        """Content in chunks.

        Raises
        ------
        CheckpointError
            When it is not here or not what it was; only known when the last chunk was given.
        """
        found = blake2b(digest_size=DIGEST_SIZE)
        try:
            file = os.open(self._path(digest), os.O_RDONLY)
            try:
                for chunk in chunks(file):
                    found.update(chunk)
                    yield chunk
            finally:
                os.close(file)
        except FileNotFoundError:
            raise CheckpointDamaged() from None
        if found.digest() != digest:
            raise CheckpointDamaged()

    def tree(self, digest: bytes) -> Tree:
        """A folder's tree; fails as `read` does."""
        return {os.fsdecode(name): entry for name, entry in _decode(b"".join(self.read(digest)))}

    def reach(self, root: bytes, known: Container[bytes]) -> dict[bytes, int]:
        """What a tree leads to, with sizes, save what is known; fails as `read` does."""
        found: dict[bytes, int] = {}
        folders = [root]
        while folders:
            digest = folders.pop()
            if digest in known or digest in found:
                continue
            tree = self.tree(digest)
            found[digest] = os.stat(self._path(digest)).st_size
            for entry in tree.values():
                if entry.kind == "folder":
                    folders.append(entry.digest)
                elif entry.kind == "file" and entry.digest not in known:
                    found[entry.digest] = entry.size
        return found

    def sweep(self, live: Container[bytes]) -> None:
        """Remove everything else, also what a killed process left."""
        with os.scandir(self._folder) as items:
            for item in items:
                if item.name == INCOMING or bytes.fromhex(item.name) not in live:
                    os.unlink(item.path)

    def total(self) -> int:
        """Bytes that are stored."""
        with os.scandir(self._folder) as items:
            return sum(item.stat().st_size for item in items)

    def _put_chunks(self, content: Iterator[bytes]) -> tuple[bytes, int]:
        digest, size = self._receive(content)
        if self.has(digest, size):
            os.unlink(self._incoming)
        else:
            self._accept(digest, size)
        return digest, size

    def _receive(self, content: Iterator[bytes]) -> tuple[bytes, int]:
        """Write content to a file that has no name yet. Errors in `content` stay as they are."""
        digest, size = blake2b(digest_size=DIGEST_SIZE), 0
        with store_errors():
            file = os.open(self._incoming, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            for chunk in content:
                self._check_room(size + len(chunk))
                digest.update(chunk)
                with store_errors():
                    write_all(file, chunk)
                size += len(chunk)
        finally:
            os.close(file)
        return digest.digest(), size

    def _accept(self, digest: bytes, size: int) -> None:
        with store_errors():
            os.rename(self._incoming, self._path(digest))
        self.added += size

    def _check_room(self, size: int) -> None:
        if self.added + size > self._cap:
            raise StoreFull(
                "checkpoint_too_large",
                f"What is new in the workspace is more than {self._cap / 1e6:,.0f} MB, "
                "the limit for its checkpoints.",
                "Raise the limit, or exclude folders that hold data.",
            )
        with store_errors():
            disk = os.statvfs(self._folder)
        if disk.f_bavail * disk.f_frsize - size < self._free_floor:
            raise disk_full()

    def _path(self, digest: bytes) -> str:
        return f"{self._folder}/{digest.hex()}"


@contextmanager
def store_errors() -> Iterator[None]:
    """Say what it means that the store cannot be written; other errors are about the workspace."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise disk_full() from error
        raise CheckpointError(
            "checkpoint_unwritable",
            f"The checkpoint could not be kept: {error.strerror}.",
            "See to it that the OpenHands home folder is writable.",
        ) from error


def disk_full() -> StoreFull:
    """The error that says so."""
    return StoreFull(
        "checkpoint_disk_full",
        "The disk is too full for a checkpoint.",
        "Free some space, or delete old sessions.",
    )


def write_all(file: int, content: bytes) -> None:
    """Write all of it; the system may take a part only."""
    view = memoryview(content)
    while view:
        view = view[os.write(file, view) :]
