"""Where a session's kernel is shown to the person, beside their own."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol


class SharedKernel(Protocol):
    """What a person may do to a session's kernel; the agent is told of it."""

    @property
    def alive(self) -> bool:
        """Whether it runs, or is being restarted."""

    def wake(self) -> None:
        """Have it go on, should it be paused: somebody connects to it."""

    async def interrupt(self) -> None:
        """Interrupt what it executes, be it the agent's or the person's."""

    async def restart(self) -> None:
        """End it and start another at the same sockets; wait until that is ready."""

    async def shut_down(self) -> None:
        """End it; the agent's next cell gets another one."""


class KernelHost(Protocol):
    """Shows the kernel of one session; a session has at most one."""

    @property
    def kernel_id(self) -> str | None:
        """The id that the person's kernels know it by; None while none is shown."""

    @property
    def busy(self) -> bool:
        """Whether the kernel executes something, for whomever."""

    @property
    def used_at(self) -> datetime | None:
        """When the kernel executed something last, in UTC; None while none is shown."""

    def show(self, kernel: SharedKernel, connection: dict[str, Any]) -> None:
        """Show a kernel that is ready.

        Parameters
        ----------
        kernel
            What to hand the person's wishes to.
        connection
            Its connection info, as jupyter_client gives it.
        """

    def hide(self) -> None:
        """Take it away, as it has ended. Do nothing if none is shown."""

    def rename(self, title: str) -> None:
        """Show it under this title of the session."""


MakeHost = Callable[[str, Callable[[], None]], KernelHost]
"""Makes the host of a session, given its id, and what to call when a kernel has come or gone."""
