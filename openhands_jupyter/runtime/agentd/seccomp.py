"""A seccomp filter: system calls that nothing in the sandbox needs are refused by the kernel.

The filter is a program for the classic BPF machine, see "Seccomp BPF" in the kernel's
documentation: it looks at a call's number and arguments (numbers only, no memory) and answers with
"allow" or an error. It is a list of what is refused, because a list of what is allowed would break
programs that nobody thought of.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Sequence

_SET_NO_NEW_PRIVS = 38
_SECCOMP_SET_MODE_FILTER = 1
_SECCOMP_FILTER_FLAG_TSYNC = 1

_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _AND, _RETURN = (
    0x20,
    0x15,
    0x35,
    0x45,
    0x54,
    0x06,
)
_NUMBER, _ARCHITECTURE = 0, 4
_ARGUMENTS = 16
_X32 = 0x40000000

_NEW_NAMESPACES = 0x7E020000
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
_SOCK_DGRAM = 2
_SOCKET_TYPE = 0xF
_NETLINK_ROUTE = 0
_EVERY_PROCESS = 0xFFFFFFFF
RLIMIT_LOCKS = 10
"""A limit that the kernel holds nothing to (see getrlimit(2)), so a sandbox is marked with it."""

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_SECCOMP = {"x86_64": 317, "aarch64": 277}

# Numbers on x86_64 and aarch64; None where the call does not exist.
_CALLS = {
    "clone": (56, 220),
    "clone3": (435, 435),
    "connect": (42, 203),
    "ioctl": (16, 29),
    "kill": (62, 129),
    "prlimit64": (302, 261),
    "setrlimit": (160, 164),
    "socket": (41, 198),
}
_REFUSED = {
    # Other processes' memory and descriptors.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    # File systems and namespaces.
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_by_handle_at": (304, 265),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    # Parts of the kernel with a history of faults.
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "modify_ldt": (154, None),
    "vmsplice": (278, 75),
    # The machine itself.
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "iopl": (172, None),
    "ioperm": (173, None),
    "vhangup": (153, 58),
}

Instruction = bytes


def apply(inet: bool, connect: bool) -> None:
    """Filter the calls of this process, all its threads, and what it starts from now on.

    Parameters
    ----------
    inet
        Whether internet sockets may be made: safe in a network namespace without a way out.
    connect
        Whether sockets may be connected. Where unix sockets of other programs are in sight, this
        is the only way to keep the sandbox from them.

    Raises
    ------
    OSError
        When the kernel has no seccomp filters, or there is none for this processor.
    """
    machine = os.uname().machine
    if machine not in _ARCHITECTURES:
        raise OSError(errno.ENOTSUP, f"seccomp: no filter for {machine}")
    program = b"".join(build(machine, inet, connect))
    instructions = ctypes.create_string_buffer(program, len(program))
    described = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(instructions))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 or libc.syscall(
        ctypes.c_long(_SECCOMP[machine]),
        ctypes.c_long(_SECCOMP_SET_MODE_FILTER),
        ctypes.c_long(_SECCOMP_FILTER_FLAG_TSYNC),
        described,
    ):
        code = ctypes.get_errno()
        raise OSError(code, f"seccomp: {os.strerror(code)}")


def number(name: str) -> int | None:
    """The number of a call that the filter refuses, on this machine; None if there is no filter."""
    machine = os.uname().machine
    return dict(zip(_ARCHITECTURES, _REFUSED[name])).get(machine)  # noqa: B905


def build(machine: str, inet: bool, connect: bool) -> list[Instruction]:
    """The filter's instructions, for a machine as `os.uname` names it; see `apply`."""
    column = list(_ARCHITECTURES).index(machine)
    number = {name: numbers[column] for name, numbers in _CALLS.items()}
    refused = [numbers[column] for numbers in _REFUSED.values()]
    if not connect:
        refused.append(number["connect"])
    program = [
        _load(_ARCHITECTURE),
        *_unless_equal(_ARCHITECTURES[machine], [_error(errno.ENOSYS)]),
        _load(_NUMBER),
    ]
    if machine == "x86_64":
        program += _when(_JUMP_AT_LEAST, _X32, [_error(errno.ENOSYS)])
    # The C library then uses clone, whose flags can be looked at.
    program += _when(_JUMP_EQUAL, number["clone3"], [_error(errno.ENOSYS)])
    for call in refused:
        if call is not None:
            program += _when(_JUMP_EQUAL, call, [_error(errno.EPERM)])
    for name, rules in (
        ("clone", [_argument(0), *_when(_JUMP_ANY_BIT, _NEW_NAMESPACES, [_error(errno.EPERM)])]),
        ("ioctl", _argument_is_none_of(1, (_TIOCSTI, _TIOCLINUX))),
        ("kill", _argument_is_none_of(0, (_EVERY_PROCESS,))),
        ("prlimit64", _own_limits_but_the_mark()),
        ("setrlimit", _argument_is_none_of(0, (RLIMIT_LOCKS,))),
        ("socket", _sockets(inet, connect)),
    ):
        program += _when(_JUMP_EQUAL, number[name], [*rules, _return(_ALLOW)])
    return [*program, _return(_ALLOW)]


def _sockets(inet: bool, connect: bool) -> list[Instruction]:
    families = [_AF_INET, _AF_INET6] if inet else []
    netlink = [_argument(2), *_unless_equal(_NETLINK_ROUTE, [_error(errno.EPROTONOSUPPORT)])]
    # A datagram finds its way without a connection.
    unix = (
        []
        if connect
        else [
            _argument(1),
            _instruction(_AND, _SOCKET_TYPE),
            *_when(_JUMP_EQUAL, _SOCK_DGRAM, [_error(errno.EPERM)]),
        ]
    )
    rules = [_argument(0)]
    for family in families:
        rules += _when(_JUMP_EQUAL, family, [_return(_ALLOW)])
    rules += _when(_JUMP_EQUAL, _AF_UNIX, [*unix, _return(_ALLOW)])
    # libzmq ends the process when it cannot ask for the network interfaces.
    rules += _when(_JUMP_EQUAL, _AF_NETLINK, [*netlink, _return(_ALLOW)])
    return [*rules, _error(errno.EAFNOSUPPORT)]


def _own_limits_but_the_mark() -> list[Instruction]:
    """Only limits of the calling process, and of those the mark may be read but not changed."""
    only_reads = [
        *(_argument(2), *_unless_equal(0, [_error(errno.EPERM)])),
        *(_load(_ARGUMENTS + 8 * 2 + 4), *_unless_equal(0, [_error(errno.EPERM)])),
    ]
    return [
        *(_argument(0), *_unless_equal(0, [_error(errno.EPERM)])),
        *(_argument(1), *_when(_JUMP_EQUAL, RLIMIT_LOCKS, only_reads)),
    ]


def _argument_is_none_of(index: int, values: Sequence[int]) -> list[Instruction]:
    rules = [_argument(index)]
    for value in values:
        rules += _when(_JUMP_EQUAL, value, [_error(errno.EPERM)])
    return rules


def _when(test: int, value: int, then: list[Instruction]) -> list[Instruction]:
    return [_instruction(test, value, 0, len(then)), *then]


def _unless_equal(value: int, then: list[Instruction]) -> list[Instruction]:
    return [_instruction(_JUMP_EQUAL, value, len(then), 0), *then]


def _load(offset: int) -> Instruction:
    return _instruction(_LOAD, offset)


def _argument(index: int) -> Instruction:
    # The lower half, which is what the kernel looks at for these arguments.
    return _load(_ARGUMENTS + 8 * index)


def _error(code: int) -> Instruction:
    return _return(_ERRNO | code)


def _return(value: int) -> Instruction:
    return _instruction(_RETURN, value)


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> Instruction:
    return struct.pack("=HBBI", code, if_true, if_false, value)
