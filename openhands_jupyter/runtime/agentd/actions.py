"""What can be asked for in the sandbox, by name.

Only what a kernel needs is loaded at once. The tools take as long to load as all the rest of
agentd, so they wait until a kernel has been started, or until somebody asks for one of them.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping

from .environment import examine
from .goings_on import goings_on
from .kernels import Kernels
from .processes import running_besides

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .tools import Tools

    OnText = Callable[[str], None]
    Action = Callable[[dict[str, Any], OnText], Any]


def load() -> None:
    """Load everything now, where agentd's files may not be there later, or be others."""
    from . import relay, selftest, tools, tunnel  # noqa: F401


class Actions:
    """The actions on one workspace.

    Parameters
    ----------
    workspace
        What relative paths are relative to, and where processes start.
    environ
        The environment of the shell and the kernels.
    scratch
        A folder for files of agentd's own.
    python
        The program of the kernels.
    on_kernel_exit
        See `Kernels`.
    own_pids
        The processes of agentd's own besides these.
    """

    def __init__(
        self,
        workspace: str,
        environ: Mapping[str, str],
        scratch: str,
        python: str,
        on_kernel_exit: Callable[[str, int, str], None],
        own_pids: Callable[[], set[int]],
    ) -> None:
        self._place = (workspace, environ, scratch)
        self._own_pids = own_pids
        self._tools: Tools | None = None
        self._loading = threading.Lock()
        kernels = self._kernels = Kernels(workspace, environ, on_kernel_exit)
        self._methods: dict[str, Action] = {
            "kernel.start": lambda p, on: kernels.start(**p),
            "kernel.signal": lambda p, on: kernels.signal(**p),
            "processes": lambda p, on: {"running": self._running()},
            "python.examine": lambda p, on: examine(python, dict(environ)),
            "goings_on": lambda p, on: goings_on(self._left_running()),
        }

    def find(self, method: str) -> Action:
        """The action of this name.

        Raises
        ------
        KeyError
            When there is none.
        """
        return self._methods.get(method) or self._loaded().methods[method]

    def answered(self, method: str) -> None:
        """Do what can wait until a request was answered."""
        if method == "kernel.start":
            # The kernel takes its time now, and so does this. Errors are for who asks for a tool.
            with contextlib.suppress(OSError):
                self._loaded()

    def close(self) -> None:
        """End all that was started."""
        with self._loading:
            if self._tools is not None:
                self._tools.shell.close()
                self._tools.helper.close()
        self._kernels.close()

    def _loaded(self) -> Tools:
        with self._loading:
            if self._tools is None:
                from .tools import Tools

                self._tools = Tools(*self._place)
            return self._tools

    def _running(self) -> list[str]:
        tools = self._tools
        waiting = [*tools.shell.pids(), *tools.helper.pids()] if tools is not None else []
        known = {*waiting, *self._kernels.pids(), *self._own_pids()}
        return self._left_running() + running_besides(known)

    def _left_running(self) -> list[str]:
        return self._tools.shell.left_running() if self._tools is not None else []
