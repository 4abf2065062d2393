"""Get at the processes of the person."""

import ctypes
import os
import signal

NUMBERS = {
    "x86_64": {"readv": 310, "pidfd_open": 434, "pidfd_getfd": 438},
    "aarch64": {"readv": 270, "pidfd_open": 434, "pidfd_getfd": 438},
}
PTRACE_ATTACH, PTRACE_DETACH = 16, 17
EFAULT = 14


def attack(world, argument):
    """Do with the processes what `argument` says."""
    return globals()[argument](world)


def own_environment(world):
    return repr(dict(os.environ))


def environments(world):
    return everywhere("environ")


def command_lines(world):
    return everywhere("cmdline")


def everywhere(name):
    told = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        # The attack itself must not find what it was told.
        if pid != str(os.getpid()):
            try:
                with open(f"/proc/{pid}/{name}", "rb") as file:
                    told.append(file.read().decode("utf-8", "replace"))
            except OSError:
                continue
    return "\n".join(told)


def memory(world):
    for pid in found(world):
        os.close(os.open(f"/proc/{pid}/mem", os.O_RDONLY))
        return "it was opened"


def files_through_proc(world):
    for pid in found(world):
        for way in (f"root{world['key']}", "cwd/.."):
            try:
                return str(os.listdir(os.path.dirname(f"/proc/{pid}/{way}")))
            except OSError as error:
                refused = error
    raise refused


def kill(world):
    for pid in found(world):
        os.kill(pid, signal.SIGKILL)
    return "they were killed"


def signal_server(world):
    os.kill(found(world)[0], 0)
    return "it may be signalled"


def kill_all(world):
    os.kill(-1, signal.SIGKILL)
    return "all were killed"


def trace(world):
    pid = found(world)[-1]
    call(libc().ptrace, PTRACE_ATTACH, pid, 0, 0)
    os.waitpid(pid, 0x40000000)
    call(libc().ptrace, PTRACE_DETACH, pid, 0, 0)
    return "it was traced"


def read_memory_of(world):
    vector = (ctypes.c_void_p * 2)(4096, 1)
    pid = found(world)[-1]
    here = ctypes.create_string_buffer(1)
    local = (ctypes.c_void_p * 2)(ctypes.addressof(here), 1)
    try:
        call(libc().syscall, number("readv"), pid, local, 1, vector, 1, 0)
    except OSError as error:
        # It may be read, but there is nothing at this address.
        if error.errno != EFAULT:
            raise
    return "it may be read"


def take_descriptor(world):
    pidfd = call(libc().syscall, number("pidfd_open"), found(world)[-1], 0)
    os.close(call(libc().syscall, number("pidfd_getfd"), pidfd, 0, 0))
    return "its descriptor was taken"


def found(world):
    """The server and another program of the person, by when they started."""
    pids = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                started = int(file.read().rpartition(b")")[2].split()[19])
        except OSError:
            continue
        if started in world["processes"]:
            pids.append((world["processes"].index(started), int(pid)))
    if not pids:
        raise ProcessLookupError("they are not seen")
    return [pid for _, pid in sorted(pids)]


def number(name):
    return NUMBERS[os.uname().machine][name]


def libc():
    return ctypes.CDLL(None, use_errno=True)


def call(function, *arguments):
    result = function(*(ctypes.c_long(a) if isinstance(a, int) else a for a in arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
