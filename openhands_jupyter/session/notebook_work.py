"""What a session does with notebooks and kernels of the person's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..config import Config
from ..events import EventStream, State
from ..notebooks.delivery.notebooks import Notebooks
from ..notebooks.undo.kept import KeptEdits
from ..notebooks.undo.taking_back import TakingBack
from ..runtime.sandbox_runtime import SandboxRuntime
from .info import SessionInfo
from .kernel_executor import kernel_executor
from .notebook_actions import NotebookActions
from .notebook_places import NotebookPlaces
from .notebook_runs import NotebookRuns
from .routing import Executor

if TYPE_CHECKING:
    from ..notebooks.running.driving import Runs
    from ..notebooks.running.kernels import Kernels


class NotebookWork:
    """Those of a session who work in notebooks and kernels of the person's.

    Parameters
    ----------
    config, info, stream, state
        Those of the session.
    runtime
        Its sandbox.
    notebooks
        Gives the ways to notebooks.
    kernels, runs
        The kernels of the server, and what runs in them; None where there is no server.
    on_change
        Called when cells begin to run, or end.

    Attributes
    ----------
    executors
        They take the actions.
    runs
        Runs cells.
    cells
        Takes back edits.
    """

    executors: tuple[Executor, ...]

    def __init__(
        self,
        config: Config,
        info: SessionInfo,
        stream: EventStream,
        state: State,
        runtime: SandboxRuntime,
        notebooks: Callable[[], Notebooks],
        kernels: Kernels | None,
        runs: Runs | None,
        on_change: Callable[[], None],
    ) -> None:
        places = NotebookPlaces(config.root, Path(info.workspace))
        kept = KeptEdits(config.sessions_folder / info.id / "edits")
        masker, blobs = stream.masker, stream.blobs
        actions = NotebookActions(notebooks, places, state, info.id, masker, kept, blobs)
        limit = config.settings.timeout
        self.runs = NotebookRuns(runs, actions, runtime, state, masker, blobs, on_change)
        self.cells = TakingBack(kept, actions.open, actions.opened, places.shown, info.id)
        self.executors = (
            actions,
            self.runs,
            kernel_executor(kernels, notebooks, places, limit, state, masker, runtime.bring),
        )

    @property
    def running(self) -> bool:
        """Whether cells run in a kernel of the person's that the session has begun with."""
        return self.runs.running
