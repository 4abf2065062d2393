"""Opening files below a folder that somebody else changes at the same time.

To check a path and then to open it is not enough where an agent works: between the two it can put
a link in the place of a folder. The check and the opening have to be one.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import sys
from pathlib import Path

_OPENAT2 = 437
"""The number of the call on every processor that Linux and Python share."""

_NO_MAGICLINKS = 0x02
_BENEATH = 0x08
_RESOLVE = _NO_MAGICLINKS | _BENEATH
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_TRIES = 100
_MOST_LINKS = 40

_OUTSIDE = "The path leads out of the folder"


class _How(ctypes.Structure):
    """``struct open_how`` of openat2(2)."""

    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


def open_beneath(folder: str | Path, path: str | Path, flags: int = os.O_RDONLY) -> int:
    """Open what is below a folder, whatever becomes of the path meanwhile.

    Links are followed as long as they stay below the folder.

    Parameters
    ----------
    folder
        The folder, which is itself trusted.
    path
        Relative to it.
    flags
        As of `os.open`; nothing is created. The descriptor is never inherited.

    Returns
    -------
    int
        The descriptor.

    Raises
    ------
    OSError
        When it cannot be opened; with ``EXDEV`` when the path leads out of the folder.
    """
    top = os.open(folder, _FOLDER)
    try:
        return _open(top, os.fspath(path), flags | os.O_CLOEXEC)
    finally:
        os.close(top)


def read_beneath(folder: str | Path, path: str | Path, limit: int, flags: int = 0) -> bytes:
    """Read a file below a folder; see `open_beneath`.

    Parameters
    ----------
    folder, path
        Where it is.
    limit
        The most bytes that it may have.
    flags
        More flags to open it with.

    Raises
    ------
    OSError
        When it cannot be opened, is no regular file (``EINVAL``), or is longer (``EFBIG``).
    """
    # Without waiting, because opening a pipe would wait for its other end.
    fd = open_beneath(folder, path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | flags)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "It is no regular file", str(path))
        with open(fd, "rb", closefd=False) as file:
            content = file.read(limit + 1)
    finally:
        os.close(fd)
    if len(content) > limit:
        raise OSError(errno.EFBIG, f"It is longer than {limit:,} bytes", str(path))
    return content


def handle_without_links(path: str | Path, folder: int | None = None) -> int:
    """A handle on what is at a path, where no part of the path is a link.

    Parameters
    ----------
    path
        Absolute, or relative to the folder.
    folder
        A handle on, or a descriptor of, a folder.

    Returns
    -------
    int
        A descriptor that only names it (``O_PATH``); never inherited by itself.

    Raises
    ------
    OSError
        When there is nothing, or a link (``ELOOP``, ``ENOTDIR``).
    """
    handle = os.open("/" if folder is None else ".", os.O_PATH | os.O_CLOEXEC, dir_fd=folder)
    try:
        for name in os.fspath(path).strip("/").split("/"):
            if name == "..":
                raise _error(errno.EXDEV, os.fspath(path))
            outer = handle
            handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=outer)
            os.close(outer)
            if stat.S_ISLNK(os.fstat(handle).st_mode):
                raise _error(errno.ELOOP, os.fspath(path))
    except BaseException:
        os.close(handle)
        raise
    return handle


def _open(top: int, path: str, flags: int) -> int:
    if sys.platform == "linux":
        try:
            return _openat2(top, path, flags)
        except OSError as error:
            # Old kernels do not know the call, and old filters of containers forbid it.
            if error.errno not in (errno.ENOSYS, errno.EPERM):
                raise
    return _walk(top, path, flags)


def _openat2(top: int, path: str, flags: int) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    how = _How(flags, 0, _RESOLVE)
    for _ in range(_TRIES):
        fd: int = libc.syscall(
            ctypes.c_long(_OPENAT2),
            ctypes.c_int(top),
            ctypes.c_char_p(os.fsencode(path)),
            ctypes.byref(how),
            ctypes.c_size_t(ctypes.sizeof(how)),
        )
        if fd >= 0:
            return fd
        if ctypes.get_errno() != errno.EAGAIN:
            break
        # Something was renamed at that moment, so the kernel cannot tell.
    raise _error(ctypes.get_errno(), path)


def _walk(top: int, path: str, flags: int) -> int:
    """The same without openat2: one component at a time, each link resolved here."""
    if os.path.isabs(path):
        raise _error(errno.EXDEV, path)
    folders = [os.dup(top)]
    left = path.split("/")[::-1]
    links = 0
    try:
        while left:
            name = left.pop()
            if name in ("", "."):
                continue
            if name == "..":
                if len(folders) == 1:
                    raise _error(errno.EXDEV, path)
                os.close(folders.pop())
                continue
            target = _link(name, folders[-1])
            if target is None:
                if not left:
                    return os.open(name, flags | os.O_NOFOLLOW, dir_fd=folders[-1])
                folders.append(os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folders[-1]))
                continue
            links += 1
            if links > _MOST_LINKS or (not left and flags & os.O_NOFOLLOW):
                raise _error(errno.ELOOP, path)
            if os.path.isabs(target):
                raise _error(errno.EXDEV, path)
            left += target.split("/")[::-1]
        return os.open(".", flags, dir_fd=folders[-1])
    finally:
        for fd in folders:
            os.close(fd)


def _link(name: str, folder: int) -> str | None:
    """Where a link leads; None if it is none."""
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.EINVAL:
            return None
        raise


def _error(number: int, path: str) -> OSError:
    return OSError(number, _OUTSIDE if number == errno.EXDEV else os.strerror(number), path)
