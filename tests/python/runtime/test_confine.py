"""What agentd takes from itself and from all that it starts: system calls, rights, limits."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from sandbox_facts import SANDBOXES
from waiting import PATIENCE

from openhands_jupyter.runtime.agentd import seccomp

pytestmark = pytest.mark.sandbox

TRY = """
import ctypes, errno, fcntl, os, resource, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(*map(ctypes.c_long, (number, *arguments)))
    return "done" if result >= 0 else errno.errorcode[ctypes.get_errno()]
def made(*kind):
    try:
        socket.socket(*kind).close()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"
"""

needs_filter = pytest.mark.skipif(
    os.uname().machine not in seccomp._ARCHITECTURES, reason="needs a processor with a filter"
)


async def tried(bench, expression):
    observation = await bench.cell(f"{TRY}\n{expression}")
    (output,) = observation.outputs
    return eval(output.data["text/plain"])


@needs_filter
async def test_every_call_on_the_list_is_refused(bench):
    numbers = {name: seccomp.number(name) for name in seccomp._REFUSED}
    # With arguments that could not do anything either way.
    expression = f"{{name: call(n, -1, 0, 0, 0, 0) for name, n in {numbers}.items() if n}}"
    async with bench() as b:
        assert set((await tried(b, expression)).values()) == {"EPERM"}


@needs_filter
async def test_calls_that_are_refused_for_their_arguments(bench):
    machine = list(seccomp._ARCHITECTURES).index(os.uname().machine)
    number = {name: numbers[machine] for name, numbers in seccomp._CALLS.items()}
    expressions = {
        f"call({number['clone3']}, 0, 0)": "ENOSYS",
        # A new user namespace, and a new network.
        f"call({number['clone']}, 0x10000000 | 17, 0, 0, 0, 0)": "EPERM",
        f"call({number['clone']}, 0x40000000 | 17, 0, 0, 0, 0)": "EPERM",
        # A key pressed on the terminal; there is none at this descriptor.
        f"call({number['ioctl']}, -1, 0x5412, 0)": "EPERM",
        f"call({number['ioctl']}, -1, 0x5413, 0)": "EBADF",
        # Signal 0 is none, should it get through.
        f"call({number['kill']}, -1, 0)": "EPERM",
        f"call({number['kill']}, os.getpid(), 0)": "done",
        f"call({number['prlimit64']}, 1, 0, 0, 0)": "EPERM",
        "resource.getrlimit(resource.RLIMIT_CORE)": (0, 0),
    }
    async with bench() as b:
        answers = await tried(b, f"[{', '.join(expressions)}]")
    assert dict(zip(expressions, answers, strict=True)) == expressions


@needs_filter
async def test_only_harmless_sockets_can_be_made(bench, isolation):
    inet = "EAFNOSUPPORT" if isolation == "landlock" else "done"
    unix_datagram = "EPERM" if isolation == "landlock" else "done"
    expressions = {
        "made(socket.AF_INET)": inet,
        "made(socket.AF_INET6, socket.SOCK_DGRAM)": inet,
        "made(socket.AF_UNIX)": "done",
        "made(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)": unix_datagram,
        "made(socket.AF_NETLINK, socket.SOCK_RAW, 0)": "done",
        "made(socket.AF_NETLINK, socket.SOCK_RAW, 12)": "EPROTONOSUPPORT",
        "made(socket.AF_PACKET, socket.SOCK_RAW)": "EAFNOSUPPORT",
        "made(socket.AF_VSOCK)": "EAFNOSUPPORT",
        "made(socket.AF_ALG, socket.SOCK_SEQPACKET)": "EAFNOSUPPORT",
        "[s.close() for s in socket.socketpair(type=socket.SOCK_DGRAM)]": [None, None],
    }
    async with bench() as b:
        answers = await tried(b, f"[{', '.join(expressions)}]")
    assert dict(zip(expressions, answers, strict=True)) == expressions


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="needs an x86-64 processor")
async def test_calls_for_other_machines_are_refused(bench):
    # 39 is getpid, of the x32 kind; the machine code asks for it in the 32 bit way.
    code = """
import mmap
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes.fromhex("b814000000cd80c3"))
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
old = ctypes.CFUNCTYPE(ctypes.c_int)(address)
"""
    async with bench() as b:
        await b.cell(TRY + code)
        assert await tried(b, "[call(0x40000000 | 39), call(39) == 'done']") == ["ENOSYS", True]
        assert await tried(b, "-old() == errno.ENOSYS") is True


async def test_ordinary_programs_work(bench):
    code = """
import asyncio, concurrent.futures, multiprocessing, subprocess, sys, threading
def twice(x):
    return 2 * x
with multiprocessing.get_context("fork").Pool(2) as pool:
    pooled = pool.map(twice, [1, 2])
with concurrent.futures.ThreadPoolExecutor() as threads:
    threaded = list(threads.map(twice, [3]))
async def main():
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(6)", stdout=-1)
    return int((await process.communicate())[0])
with concurrent.futures.ThreadPoolExecutor() as threads:
    asked = threads.submit(asyncio.run, main()).result()
lock = multiprocessing.Lock()
pooled, threaded, asked, subprocess.run(["true"]).returncode, lock.acquire()
"""
    async with bench() as b:
        observation = await b.cell(code)
        assert observation.outputs[-1].data == {"text/plain": "([2, 4], [6], 6, 0, True)"}


async def test_sockets_of_other_programs_are_out_of_reach(bench, run_directories):
    """Such as the bus of a desktop, on which anything can be started, or Docker's socket."""
    reached = []
    run_directories.mkdir(mode=0o700, exist_ok=True)
    path = run_directories.parent / "bus"
    server = await asyncio.start_unix_server(lambda *_: reached.append(1), path)
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind("\0ohj-test-bus")
    abstract.listen()
    code = """
import socket
for address in ({path!r}, "\\0ohj-test-bus"):
    try:
        socket.socket(socket.AF_UNIX).connect(address)
    except OSError as error:
        print(type(error).__name__)
"""
    with abstract:
        async with server, bench() as b:
            observation = await b.cell(code.format(path=str(path)))
            await asyncio.sleep(0.1)
    assert len(re.findall(r"\w+Error", observation.outputs[0].text)) == 2
    assert reached == []


async def test_no_process_gets_away(bench):
    """One that left its session and cleared its environment, while the action server is killed."""
    mark = f"{100000 + os.getpid()}.77"
    async with bench() as b:
        await b.sh(f"env -i setsid sleep {mark} & sleep 0.3; kill -KILL $PPID; sleep 60")
        async with asyncio.timeout(PATIENCE):
            while mark in commands_running():
                await asyncio.sleep(0.05)
        assert (await b.sh("echo fresh")).content.endswith("fresh\n")


def commands_running() -> str:
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(process.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
        except OSError:
            continue
    return "\n".join(found)


JUPYTER_CONFIGURATION = Path(sys.prefix, "etc", "jupyter")


@pytest.mark.skipif(
    not JUPYTER_CONFIGURATION.is_dir(), reason="needs a Jupyter configuration beside the Python"
)
@pytest.mark.parametrize("isolation", ["landlock"], indirect=True)
async def test_jupyters_configuration_is_hidden(bench):
    folder = JUPYTER_CONFIGURATION
    async with bench() as b:
        observation = await b.sh(f"ls {folder}; cat {folder}/*/*.json")
        assert observation.exit_code != 0
        assert "Permission denied" in observation.content
        assert "{" not in observation.content


@pytest.mark.parametrize("isolation", SANDBOXES, indirect=True)
async def test_a_layer_that_is_missing_under_bubblewrap_is_said_and_no_error(
    bench, isolation, monkeypatch
):
    """With a filter that does not exist for this processor; Landlock alone must not do."""
    import openhands_jupyter.runtime.launch as launch
    from openhands_jupyter.errors import SandboxUnavailable

    other = "import os; u = os.uname; os.uname = lambda: type('', (), {'machine': 'riscv64'})(); "
    monkeypatch.setattr(launch, "_START", other + launch._START)
    if isolation == "landlock":
        with pytest.raises(SandboxUnavailable, match="no filter for riscv64"):
            async with bench():
                pass
        return
    async with bench() as b:
        found = await b.runtime.start()
        assert "a second layer (seccomp: no filter for riscv64)" in found.missing
        assert found.level == "amber"
        assert {c.name for c in found.checks if not c.held} >= {"use dangerous system calls"}


class TestFilter:
    """The filter itself, run on a machine made of ten lines, for both processors."""

    @staticmethod
    def verdict(machine, number, *arguments, inet=True, connect=True, architecture=None):
        program = [struct.unpack("=HBBI", i) for i in seccomp.build(machine, inet, connect)]
        architecture = architecture or seccomp._ARCHITECTURES[machine]
        padded = [*arguments, 0, 0, 0, 0, 0, 0][:6]
        data = struct.pack("=iIQ6Q", number, architecture, 0, *padded)
        at = accumulator = 0
        while True:
            code, if_true, if_false, value = program[at]
            at += 1
            if code == 0x20:
                accumulator = struct.unpack_from("=I", data, value)[0]
            elif code == 0x54:
                accumulator &= value
            elif code == 0x06:
                return 0 if value == 0x7FFF0000 else value & 0xFFFF
            else:
                holds = {
                    0x15: accumulator == value,
                    0x35: accumulator >= value,
                    0x45: bool(accumulator & value),
                }[code]
                at += if_true if holds else if_false

    @pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
    def test_on(self, machine):
        column = list(seccomp._ARCHITECTURES).index(machine)
        number = {name: n[column] for name, n in (seccomp._CALLS | seccomp._REFUSED).items()}
        for name in seccomp._REFUSED:
            if number[name] is not None:
                assert self.verdict(machine, number[name]) == errno.EPERM, name
        for call in range(470):
            known = [n for n in number.values() if n is not None]
            assert call in known or self.verdict(machine, call) == 0
        assert self.verdict(machine, 0, architecture=0x40000003) == errno.ENOSYS
        assert self.verdict(machine, number["connect"]) == 0
        assert self.verdict(machine, number["connect"], connect=False) == errno.EPERM
        assert self.verdict(machine, number["socket"], 2, inet=False) == errno.EAFNOSUPPORT
        assert self.verdict(machine, number["socket"], 2) == 0
        assert self.verdict(machine, number["socket"], 1, 2, connect=False) == errno.EPERM
        assert self.verdict(machine, number["socket"], 1, 1, connect=False) == 0
        assert self.verdict(machine, number["clone"], 0x00003D0F00) == 0
        assert self.verdict(machine, number["clone"], 0x20000011) == errno.EPERM
        assert self.verdict(machine, number["kill"], 0xFFFFFFFF, 9) == errno.EPERM
        assert self.verdict(machine, number["kill"], 5, 9) == 0

    @pytest.mark.skipif(
        not Path("/usr/include/asm-generic/unistd.h").exists(), reason="needs the kernel's headers"
    )
    def test_the_numbers_are_those_of_the_kernel(self):
        include = "#include <sys/syscall.h>\n"
        names = [*seccomp._CALLS, *seccomp._REFUSED]
        lines = [f"#ifdef __NR_{name}\n{name} __NR_{name}\n#endif" for name in names]
        try:
            answer = subprocess.run(
                ["cc", "-E", "-P", "-"],
                input=include + "\n".join(lines),
                capture_output=True,
                text=True,
                check=True,
            )
        except (OSError, subprocess.CalledProcessError):
            pytest.skip("needs a C compiler")
        machine = list(seccomp._ARCHITECTURES).index(os.uname().machine)
        ours = {name: n[machine] for name, n in (seccomp._CALLS | seccomp._REFUSED).items()}
        found = dict(re.findall(r"^(\w+) (\d+)$", answer.stdout, re.MULTILINE))
        assert len(found) > 40
        assert {name: str(ours[name]) for name in found} == found
