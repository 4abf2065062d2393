"""Landlock: rules of the kernel that a process puts on itself and on all it starts, for good.

The interface is described in the kernel's "Landlock: unprivileged access control" page. What a
kernel does not know yet is left out: rules on moving files between folders came with ABI 2, on
truncating with 3, on TCP with 4, on device controls with 5, on signals and abstract sockets with 6.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Iterable

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1
_SET_NO_NEW_PRIVS = 38

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = (1 << bit for bit in range(4))
_REFER, _TRUNCATE, _IOCTL_DEV = (1 << bit for bit in (13, 14, 15))
_FIRST_ABI = (1 << 13) - 1
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_TCP = 0b11
_SCOPES = 0b11


def abi() -> int:
    """The kernel's version of Landlock; 0 where there is none or it is switched off."""
    return max(_syscall(_CREATE_RULESET, None, 0, _CREATE_RULESET_VERSION), 0)


def restrict(read: Iterable[str], write: Iterable[str], tcp: bool) -> None:
    """Restrict this thread, and what it starts from now on.

    Parameters
    ----------
    read
        Files and folders that may be read and executed, with all below; missing ones are skipped.
    write
        The same for those that may also be changed.
    tcp
        Whether TCP ports may be connected to and served.

    Raises
    ------
    OSError
        When the kernel has no Landlock or refuses.
    """
    version = abi()
    if not version:
        raise OSError(errno.EOPNOTSUPP, "landlock: this kernel has none")
    handled = _FIRST_ABI
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        handled |= right if version >= since else 0
    attributes = [handled]
    if version >= 4:
        attributes.append(0 if tcp else _TCP)
    if version >= 6:
        attributes.append(_SCOPES)
    packed = struct.pack(f"{len(attributes)}Q", *attributes)
    ruleset = _checked(_syscall(_CREATE_RULESET, packed, len(packed), 0))
    try:
        for path in read:
            _allow(ruleset, path, _READ & handled)
        for path in write:
            _allow(ruleset, path, handled)
        _checked(_libc().prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        _checked(_syscall(_RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= _ON_FILES
        rule = struct.pack("=Qi", rights, fd)
        _checked(_syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, 0))
    finally:
        os.close(fd)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _syscall(number: int, *arguments: object) -> int:
    # The C library widens what it is given as long; a bare int would leave the upper half unset.
    widened = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result: int = _libc().syscall(ctypes.c_long(number), *widened)
    return result


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"landlock: {os.strerror(code)}")
    return result
