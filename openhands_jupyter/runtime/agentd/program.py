"""Programs of agentd's own, each in a process that can be ended."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import threading
from typing import Any

from .errors import ActionError


def source_of(module: str) -> str:
    """The code of a program: that of a module here, which is not loaded for it.

    To be read when what asks for it is loaded: agentd may come from a zip file that is removed
    once it runs.

    Parameters
    ----------
    module
        Its ``main`` reads the request, as JSON, from the standard input. It imports nothing of
        ours.
    """
    name = f"{__package__}.{module}"
    loader: Any = getattr(importlib.util.find_spec(name), "loader", None)
    return f"{loader.get_source(name)}\nmain()\n"


class Program:
    """A program that gets one request and gives one answer, for one who asks at a time.

    Parameters
    ----------
    source
        See `source_of`.
    what
        What it does, as a noun for the agent.
    """

    def __init__(self, source: str, what: str) -> None:
        self._source = source
        self._what = what
        self._changing = threading.Lock()
        self._running: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def ask(self, request: dict[str, Any], seconds: float) -> tuple[int, bytes] | None:
        """The exit code and what it printed; None where it took too long, and was ended.

        Raises
        ------
        ActionError
            ``stopped``.
        """
        with self._changing:
            self._stopped = False
            self._running = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", self._source],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        output, in_time = b"", True
        try:
            output, _ = self._running.communicate(json.dumps(request).encode(), timeout=seconds)
        except subprocess.TimeoutExpired:
            in_time = False
            self._running.kill()
            self._running.communicate()
        finally:
            with self._changing:
                code, self._running = self._running.poll(), None
        if self._stopped:
            raise ActionError("stopped", f"The {self._what} was stopped.")
        return (int(code or 0), output) if in_time else None

    def stop(self) -> None:
        """End it, if it runs."""
        with self._changing:
            if self._running is not None:
                self._stopped = True
                self._running.kill()
