"""Gain rights, and use calls that only they, or faults of the kernel, make worthwhile."""

import ctypes
import fcntl
import os
import stat
import struct

CLONE_NEWUSER = 0x10000000
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
NUMBERS = {
    "x86_64": {
        "clone3": 435,
        "io_uring_setup": 425,
        "bpf": 321,
        "userfaultfd": 323,
        "keyctl": 250,
        "perf_event_open": 298,
        "name_to_handle_at": 303,
        "open_by_handle_at": 304,
    },
    "aarch64": {
        "clone3": 435,
        "io_uring_setup": 425,
        "bpf": 280,
        "userfaultfd": 282,
        "keyctl": 219,
        "perf_event_open": 241,
        "name_to_handle_at": 264,
        "open_by_handle_at": 265,
    },
}


def attack(world, argument):
    """Do what `argument` says."""
    return globals()[argument](world)


def become_root(world):
    if os.getresuid() == (0, 0, 0):
        # It is root already; what it must not have are root's rights.
        os.setgroups([0, 4, 6])
        return "the groups were set"
    os.setuid(0)
    return "it is root"


def capabilities(world):
    with open("/proc/self/status", encoding="utf-8") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    held = [name for name in ("CapEff", "CapPrm", "CapAmb") if int(status[name].strip(), 16)]
    return ", ".join(held) if held else None


def mount(world):
    os.makedirs("mounted", exist_ok=True)
    call(libc().mount, b"none", b"mounted", b"tmpfs", 0, None)
    return "it was mounted"


def make_device(world):
    os.mknod("device", 0o600 | stat.S_IFCHR, os.makedev(1, 1))
    return "it was made"


def change_root(world):
    os.chroot(".")
    return "the root was changed"


def unshare(world):
    call(libc().unshare, CLONE_NEWUSER)
    return "a user namespace was opened"


def clone3(world):
    described = struct.pack("11Q", CLONE_NEWUSER, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0)
    described = ctypes.create_string_buffer(described, len(described))
    child = call(libc().syscall, number("clone3"), described, len(described.raw))
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return "a user namespace was opened"


def io_uring(world):
    parameters = ctypes.create_string_buffer(120)
    os.close(call(libc().syscall, number("io_uring_setup"), 1, parameters))
    return "a ring was made"


def bpf(world):
    # A map of the kind 2 (array), with keys of 4, values of 8 bytes, and one entry.
    wanted = ctypes.create_string_buffer(struct.pack("IIII", 2, 4, 8, 1), 128)
    os.close(call(libc().syscall, number("bpf"), 0, wanted, 128))
    return "a map was made"


def userfaultfd(world):
    os.close(call(libc().syscall, number("userfaultfd"), 1))
    return "it was opened"


def keyring(world):
    # The session's keyring, made if there is none.
    return f"keyring {call(libc().syscall, number('keyctl'), 0, -3, 1)}"


def performance(world):
    # The time of this process in user space, for which no hardware is needed.
    wanted = struct.pack("IIQQQQQ", 1, 112, 0, 0, 0, 0, 1 << 5 | 1 << 6)
    wanted = ctypes.create_string_buffer(wanted, 112)
    os.close(call(libc().syscall, number("perf_event_open"), wanted, 0, -1, -1, 0))
    return "a counter was opened"


def open_by_handle(world):
    """What once led out of containers: a file by its number in the file system."""
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 136)
    mount_id = ctypes.c_int()
    name = libc().syscall, number("name_to_handle_at"), -100, b".", handle
    call(*name, ctypes.byref(mount_id), 0)
    folder = os.open(".", os.O_RDONLY)
    os.close(call(libc().syscall, number("open_by_handle_at"), folder, handle, os.O_RDONLY))
    return "a folder was opened"


def type_into_terminal(world):
    path, _ = world["terminal"]
    refused = OSError("there is no terminal")
    for name in (path, "/dev/tty", "/dev/pts/0", "/dev/console"):
        try:
            fd = os.open(name, os.O_RDWR | os.O_NOCTTY)
        except OSError as error:
            refused = error
            continue
        for request, argument in ((TIOCSTI, b"#"), (TIOCLINUX, b"\3")):
            try:
                fcntl.ioctl(fd, request, argument)
                return f"{name} took it"
            except OSError as error:
                refused = error
        os.close(fd)
    raise refused


def raise_limits(world):
    import resource

    for kind in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        _, hard = resource.getrlimit(kind)
        try:
            resource.setrlimit(kind, (hard + 1, hard + 1))
            return "a limit was raised"
        except (OSError, ValueError) as error:
            refused = error
    raise PermissionError(str(refused))


def number(name):
    return NUMBERS[os.uname().machine][name]


def libc():
    return ctypes.CDLL(None, use_errno=True)


def call(function, *arguments):
    result = function(*(ctypes.c_long(a) if isinstance(a, int) else a for a in arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
