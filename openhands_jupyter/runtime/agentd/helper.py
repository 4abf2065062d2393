"""A program of the server's own in the sandbox that stays, and is asked one thing after another.

It is sent as text, runs in a folder of its own, and keeps itself from all other files that are not
the system's: what it works with, such as pages of the web, may take it over.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from types import ModuleType
from typing import Any

from . import landlock
from .errors import ActionError
from .processes import started_with
from .supervise import descendants

STOP_SECONDS = 0.25
"""For a stop to be heeded, after which the program is ended."""

_PATIENCE = 30.0
"""Seconds for the start."""

_LOOK = 0.1
"""Seconds between two looks at whether it is still there."""

_READ = ("/bin", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/opt", "/proc", "/sbin", "/sys")
_WRITE = ("/dev/null", "/dev/shm", "/dev/tty")

_PACKAGE = "openhands_helper"

# The source is in the first line of the standard input: on the command line everybody reads it.
_BEGIN = (
    "import sys; sys.path[:] = [*filter(None, sys.path), sys.argv[1]]; "
    "from agentd.helper import become; become()"
)


def become() -> None:
    """Confine this process, then be the program whose modules are in the first line."""
    program = json.loads(sys.stdin.buffer.readline())
    read = {*_READ, *sys.path, sys.prefix, sys.base_prefix}
    # A second layer, where the kernel has it.
    with contextlib.suppress(OSError):
        landlock.restrict(["/usr", *filter(None, read)], [os.getcwd(), *_WRITE], tcp=True)
    package = sys.modules[_PACKAGE] = ModuleType(_PACKAGE)
    package.__path__ = []
    for name, source in program.items():
        module = sys.modules[f"{_PACKAGE}.{name}"] = ModuleType(f"{_PACKAGE}.{name}")
        module.__package__ = _PACKAGE
        exec(compile(source, f"<{name}>", "exec"), vars(module))
    module.main()


class Helper:
    """The program, started when it is first asked for something, and again once it has ended.

    Parameters
    ----------
    scratch
        Where its folder is made.
    """

    def __init__(self, scratch: str) -> None:
        self._scratch = scratch
        self._asking = threading.Lock()
        self._changing = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._folder = ""
        self._stopped = False

    def ask(
        self, program: dict[str, str], request: dict[str, Any], seconds: float
    ) -> dict[str, Any]:
        """Have it do something.

        Parameters
        ----------
        program
            The code of its modules by name, for when it does not run: of one package, each after
            those that it imports, the last with ``main``. It writes a line when it is ready, then
            one for each line that it reads.
        request
            What it is to do.
        seconds
            How long that may take; then it is ended.

        Returns
        -------
        dict
            Its answer.

        Raises
        ------
        ActionError
            As it says; or ``helper_ended``, ``stopped``.
        """
        with self._asking:
            self._stopped = False
            if self._process is None or self._process.poll() is not None:
                self._start(program)
                try:
                    self._answer(_PATIENCE)
                except ActionError:
                    # It says why it cannot be, and ends.
                    self.close()
                    raise
            self._send(request)
            return self._answer(seconds)

    def stop(self) -> None:
        """End what it does now, if anything; itself too, if it does not heed that."""
        if not self._asking.locked():
            return
        self._stopped = True
        self._send({"stop": True})
        if self._asking.acquire(timeout=STOP_SECONDS):
            self._asking.release()
        else:
            self.close()

    def close(self) -> None:
        """End it, with all that it started."""
        with self._changing:
            process, self._process = self._process, None
            if process is None:
                return
            for pid in self._pids_with(process):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def pids(self) -> list[int]:
        """Its processes."""
        process = self._process
        return [] if process is None else self._pids_with(process)

    def _pids_with(self, process: subprocess.Popen[bytes]) -> list[int]:
        # Some of those that it starts make themselves nobody's children.
        return [process.pid, *descendants(process.pid), *started_with("HOME", self._folder)]

    def _start(self, program: dict[str, str]) -> None:
        self.close()
        self._folder = tempfile.mkdtemp(prefix="openhands-helper-", dir=self._scratch)
        places = dict.fromkeys(("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"))
        with self._changing:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _BEGIN, os.path.dirname(os.path.dirname(__file__))],
                cwd=self._folder,
                env={**os.environ, **dict.fromkeys(places, self._folder)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._send(program)

    def _send(self, request: Any) -> None:
        process = self._process
        if process is not None and process.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                process.stdin.write(json.dumps(request).encode() + b"\n")
                process.stdin.flush()

    def _answer(self, seconds: float) -> dict[str, Any]:
        line = self._line(seconds)
        if line is None:
            self.close()
            if self._stopped:
                raise ActionError("stopped", "It was stopped, and its program has ended.")
            raise ActionError("helper_ended", "It ended early, or gave no answer in time.")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise ActionError(answer["error"], answer["message"], answer["hint"])
        return answer

    def _line(self, seconds: float) -> bytes | None:
        process = self._process
        if process is None or process.stdout is None:
            return None
        received, give_up = bytearray(), time.monotonic() + seconds
        output = process.stdout.fileno()
        while not received.endswith(b"\n"):
            ready, _, _ = select.select([output], [], [], _LOOK)
            piece = os.read(output, 1 << 20) if ready else b""
            received += piece
            # What it started may keep the pipe open when it has ended itself.
            if not piece and (ready or process.poll() is not None or time.monotonic() > give_up):
                return None
        return bytes(received)
