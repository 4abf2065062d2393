"""Use up the machine, up to fixed amounts: 400 processes, 1.2 GB of memory, 400 MB of disk."""

import os
import resource
import signal
import subprocess
import sys
import time

MEGABYTE = 2**20


def attack(world, argument):
    """Use up what `argument` says; limits are 0.25 GB of memory, 100 processes, 0.1 GB of disk."""
    return globals()[argument](world)


def processes(world):
    started = []
    try:
        for _ in range(400):
            pid = os.fork()
            if pid == 0:
                time.sleep(60)
                os._exit(0)
            started.append(pid)
        return "400 processes were started"
    finally:
        for pid in started:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def memory(world):
    return hold([1200])


def memory_in_parts(world):
    """In several processes, each of which stays below the limit."""
    return hold([200] * 6)


def hold(sizes):
    code = (
        "import sys; held = [bytearray(10 * 2**20) for _ in range(int(sys.argv[1]) // 10)]; "
        "print('held', flush=True); sys.stdin.read()"
    )
    children = []
    try:
        for size in sizes:
            command = [sys.executable, "-c", code, str(size)]
            pipe = subprocess.PIPE
            null = subprocess.DEVNULL
            children.append(subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=null))
        if all(child.stdout.readline() == b"held\n" for child in children):
            return f"{sum(sizes)} MB were held"
        raise MemoryError("not that much")
    except (MemoryError, BlockingIOError) as error:
        raise OSError(str(error)) from error
    finally:
        for child in children:
            child.kill()
            child.wait()


def temporary_file(world):
    return fill([os.path.join(os.environ.get("TMPDIR", "/tmp"), "big")], 400)


def temporary_files(world):
    return fill([os.path.join(os.environ.get("TMPDIR", "/tmp"), f"big{n}") for n in range(8)], 50)


def workspace_file(world):
    return fill(["big"], 400)


def workspace_files(world):
    return fill([f"big{n}" for n in range(8)], 50)


def fill(paths, megabytes):
    """Slowly enough for somebody who looks twice a second."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        for path in paths:
            with open(path, "wb", buffering=0) as file:
                for _ in range(megabytes // 10):
                    file.write(bytes(10 * MEGABYTE))
                    time.sleep(0.1)
        return f"{len(paths) * megabytes} MB were written"
    finally:
        for path in paths:
            if os.path.exists(path):
                os.unlink(path)


def core_dump(world):
    return "allowed" if resource.getrlimit(resource.RLIMIT_CORE)[1] else None
