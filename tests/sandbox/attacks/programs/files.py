"""Get at files of the person."""

import ctypes
import os
import sysconfig


def attack(world, argument):
    """Do with a file what `argument` says."""
    return globals()[argument](world)


def read_key(world):
    return read(world["key"])


def read_token(world):
    return read(world["token"])


def read_connection(world):
    return read(world["connection"])


def read_shared_memory(world):
    return read(world["shared_memory"])


def read_by_symlink(world):
    os.symlink(world["key"], "link-to-the-key")
    return read("link-to-the-key")


def read_by_hard_link(world):
    os.link(world["key"], "name-of-the-key")
    return read("name-of-the-key")


def exists(world):
    return f"{os.stat(world['key']).st_size} bytes"


def write_home(world):
    return write(os.path.join(world["home"], ".bashrc"))


def write_outside(world):
    return write(os.path.join(world["outside"], "file"))


def write_temporary(world):
    return write(os.path.join("/tmp", world["mark"]))


def change_mode(world):
    os.chmod(world["key"], 0o777)
    return "the mode was changed"


def change_time(world):
    os.utime(world["key"], (0, 0))
    return "the time was changed"


def write_packages(world):
    for folder in {*world["packages"], sysconfig.get_path("purelib")}:
        try:
            # A file without a name, which nobody sees.
            os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
        except OSError as error:
            refused = error
        else:
            return f"{folder} takes files"
    raise refused


def overwrite_connection(world):
    """That of the kernel of this sandbox, which the server trusts."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                arguments = file.read().split(b"\0")
        except OSError:
            continue
        if b"ipykernel_launcher" in arguments:
            path = arguments[arguments.index(b"-f") + 1]
            try:
                return write(path)
            except OSError:
                own = os.path.join(os.path.dirname(path), b"new")
                os.rename(write(own), path)
                return "it was replaced"
    raise AssertionError("no kernel was found")


def core_pattern(world):
    path = "/proc/sys/kernel/core_pattern"
    with open(path, encoding="utf-8") as file:
        value = file.read()
    with open(path, "w", encoding="utf-8") as file:
        # Just what it was.
        file.write(value)
    return "the kernel took it"


def kernel_triggers(world):
    for path in ("/proc/sysrq-trigger", "/proc/sys/vm/drop_caches", "/proc/sys/kernel/panic"):
        try:
            os.close(os.open(path, os.O_WRONLY))
            return f"{path} can be written"
        except OSError as error:
            refused = error
    raise refused


def kernel_memory(world):
    for path in ("/proc/kcore", "/dev/mem", "/dev/kmem", "/proc/kmsg", "/dev/kmsg"):
        try:
            with open(path, "rb", buffering=0) as file:
                os.set_blocking(file.fileno(), False)
                if file.read(16):
                    return f"{path} was read"
        except OSError as error:
            refused = error
    raise refused


def disks(world):
    for name in ("vda", "sda", "nvme0n1", "loop0", "loop-control", "fuse", "kvm", "mapper/control"):
        try:
            os.close(os.open(f"/dev/{name}", os.O_RDONLY))
            return f"/dev/{name} was opened"
        except OSError as error:
            refused = error
    raise refused


def terminal(world):
    path, device = world["terminal"]
    fd = os.open(path, os.O_RDWR | os.O_NOCTTY)
    try:
        if os.fstat(fd).st_dev != device:
            raise FileNotFoundError("that terminal is another one here")
        return f"{path} was opened"
    finally:
        os.close(fd)


def limits_of_the_group(world):
    """Take away the limits of the own control group."""
    with open("/proc/self/cgroup", encoding="utf-8") as file:
        groups = [line.rstrip("\n").split(":", 2)[1:] for line in file]
    names = ("memory.limit_in_bytes", "memory.max", "pids.max", "cgroup.procs")
    refused = FileNotFoundError("no control groups are seen")
    for controllers, path in groups:
        for name in names:
            for top in (controllers, f"{controllers}{path}", "unified", path.lstrip("/")):
                try:
                    os.close(os.open(os.path.join("/sys/fs/cgroup", top, name), os.O_WRONLY))
                    return f"/sys/fs/cgroup/{top}/{name} can be written"
                except OSError as error:
                    refused = error
    raise refused


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def write(path):
    with open(path, "a") as file:
        file.write("written by the attack")
    return path


def swap(world):
    """Exchange a folder and a link to the person's, without a moment in between, until killed."""
    number = {"x86_64": 316, "aarch64": 276}[os.uname().machine]
    os.makedirs("swapped/inner", exist_ok=True)
    for folder in ("swapped", "swapped/inner"):
        with open(f"{folder}/{os.path.basename(world['key'])}", "w") as file:
            file.write("harmless")
    os.symlink(os.path.dirname(world["key"]), "leads-away")
    exchange = ctypes.CDLL(None, use_errno=True).syscall
    while True:
        if exchange(number, -100, b"swapped", -100, b"leads-away", 2) < 0:
            raise OSError(ctypes.get_errno(), "not exchanged")
