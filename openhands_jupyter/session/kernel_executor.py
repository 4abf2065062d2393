"""Who executes what the agent does with kernels of the person's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from ..events import (
    Action,
    ErrorObservation,
    Masker,
    Observation,
    State,
)
from ..events.kernels import KernelRead, KernelWrite
from ..notebooks.delivery.notebooks import Notebooks
from ..runtime.base import OutputCallback
from .notebook_places import NotebookPlaces
from .routing import Executor

if TYPE_CHECKING:
    from ..notebooks.running.kernels import Kernels


def kernel_executor(
    kernels: Kernels | None,
    notebooks: Callable[[], Notebooks],
    places: NotebookPlaces,
    limit: float,
    state: State,
    masker: Masker,
    bring: Callable[[str, bytes], Awaitable[str]],
) -> Executor:
    """The executor for kernels of the person's; see `KernelActions`.

    Parameters
    ----------
    kernels
        The kernels of the server; None where there is no server.
    notebooks, places, limit, state, masker, bring
        As with `KernelActions`.
    """
    if kernels is None:
        return _NoKernels()
    # Imports jupyter_server, which commands do without.
    from .kernel_actions import KernelActions

    return KernelActions(kernels, notebooks, places, limit, state, masker, bring)


class _NoKernels:
    """What there is without a server: no kernels of the person's."""

    def takes(self, action: Action) -> bool:
        return isinstance(action, KernelRead | KernelWrite)

    async def prepare(self, action: Action) -> Action | Observation:
        return ErrorObservation(
            code="no_jupyter_server",
            message="Without a Jupyter server there are no kernels of the user's.",
            hint="Use the sandbox.",
        )

    async def run(self, action: Action, on_output: OutputCallback) -> Observation:
        raise AssertionError("It was answered when it was prepared")
