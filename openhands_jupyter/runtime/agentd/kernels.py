"""Starting, signalling and watching kernels."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
from collections.abc import Mapping

from .errors import ActionError
from .processes import kill_session
from .text import HeadAndTail

LOG_CHARACTERS = 16_000

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    OnExit = Callable[[str, int, str], None]


class Kernels:
    """The kernel processes of this sandbox, each in a session and process group of its own.

    Parameters
    ----------
    cwd, environ
        Where and with what they start.
    on_exit
        Called with a kernel's id, exit code (negative for a signal) and what it wrote on its own
        standard output and error, when it ended for whatever reason.
    """

    def __init__(self, cwd: str, environ: Mapping[str, str], on_exit: OnExit) -> None:
        self._cwd = cwd
        self._environ = dict(environ)
        self._on_exit = on_exit
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(
        self, kernel: str, command: list[str], connection: dict[str, str] | None = None
    ) -> dict[str, int]:
        """Start a kernel.

        Parameters
        ----------
        kernel
            The id it goes by.
        command
            Its command line.
        connection
            The ``path`` and the ``content`` of its connection file, where it is not there yet.

        Raises
        ------
        ActionError
            ``kernel_failed`` when the program cannot be started.
        """
        if connection is not None:
            with open(connection["path"], "w", encoding="utf-8") as file:
                file.write(connection["content"])
        try:
            process = subprocess.Popen(
                command,
                cwd=self._cwd,
                env=self._environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            message = f"The kernel cannot be started: {error}."
            raise ActionError("kernel_failed", message) from error
        self._processes[kernel] = process
        threading.Thread(target=self._watch, args=(kernel, process), daemon=True).start()
        return {"pid": process.pid}

    def signal(self, kernel: str, signum: int) -> None:
        """Send a signal to a kernel and its children; nothing happens if it has ended."""
        process = self._processes.get(kernel)
        if process is not None and process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signum)

    def pids(self) -> list[int]:
        """The processes of the kernels that run."""
        return [process.pid for process in list(self._processes.values())]

    def close(self) -> None:
        """End all kernels at once."""
        for process in list(self._processes.values()):
            kill_session(process.pid)

    def _watch(self, kernel: str, process: subprocess.Popen[bytes]) -> None:
        log = HeadAndTail(LOG_CHARACTERS)
        reader = threading.Thread(target=_drain, args=(process, log), daemon=True)
        reader.start()
        code = process.wait()
        kill_session(process.pid)
        reader.join(0.5)
        self._processes.pop(kernel, None)
        self._on_exit(kernel, code, log.text())


def _drain(process: subprocess.Popen[bytes], log: HeadAndTail) -> None:
    # The kernel repeats here what its children print, so it must be read, but not all be kept.
    stream = process.stdout
    assert stream is not None
    with stream:
        for piece in iter(lambda: stream.read1(65536), b""):  # type: ignore[attr-defined]
            log.add(piece.decode("utf-8", "replace"))
