"""The process that a sandbox is, as seen from outside."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace

from ..making import made_or_undone
from .agentd.processes import MARK, kill_marked
from .agentd.text import HeadAndTail
from .cgroups import Cgroup
from .holding import Hold
from .launch import Command, Launch

END_TIMEOUT = 1.0
STDERR_CHARACTERS = 8_000


class GroupRefused(Exception):
    """The process could not be put into its control group."""


class SandboxProcess:
    """A started process, with what it says on its standard error.

    `start` makes them.

    Attributes
    ----------
    command
        What was executed.
    cgroup
        What holds it to its limits with all that it started; None where nothing does.
    elsewhere
        None: it is on this machine.
    """

    elsewhere = None

    can_pause = False

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        command: Command,
        channel: socket.socket,
        cgroup: Cgroup | None,
    ) -> None:
        self.command = command
        self.cgroup = cgroup
        self._process = process
        self._channel = channel
        self._pidfd: int | None = None
        with contextlib.suppress(ProcessLookupError):
            self._pidfd = os.pidfd_open(process.pid)
        self._stderr = HeadAndTail(STDERR_CHARACTERS)
        self._reading_stderr = asyncio.create_task(self._read_stderr())

    @classmethod
    async def start(cls, build: Callable[[Launch], Command], launch: Launch) -> SandboxProcess:
        """Start it.

        Parameters
        ----------
        build
            What makes the command, once the channel is there.
        launch
            What is to be started.

        Raises
        ------
        SandboxUnavailable
            When there is no command.
        OSError
            When it cannot be started.
        GroupRefused
            When it cannot be put into the control group; it has ended then.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                command = build(replace(launch, channel=theirs.fileno()))
                return await cls._start(command, launch, ours, theirs)
            except BaseException:
                ours.close()
                raise

    @classmethod
    async def _start(
        cls, command: Command, launch: Launch, ours: socket.socket, theirs: socket.socket
    ) -> SandboxProcess:
        cgroup, owner = launch.cgroup, launch.owner
        with command.open_fds() as fds, _hold(command, cgroup) as hold:
            making = asyncio.create_subprocess_exec(
                *(hold.argv(command.argv) if hold else command.argv),
                env=command.env,
                cwd="/",
                stdin=hold.stdin if hold else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                pass_fds=(theirs.fileno(), *fds),
                # So that Ctrl-C in the terminal of the server does not reach it.
                start_new_session=True,
                user=owner.uid if owner else None,
                group=owner.gid if owner else None,
                extra_groups=[] if owner else None,
            )
            process = await made_or_undone(
                making, lambda process: cls(process, command, ours, cgroup)._end_at_once()
            )
            started = cls(process, command, ours, cgroup)
            # What it was given must not stay open here: the end of a pipe tells that it ended.
            command.close_fds()
            if cgroup is not None and hold is not None:
                await started._put_into_group(cgroup, hold)
        return started

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """The stream to agentd; closing it ends the process."""
        return await asyncio.open_connection(sock=self._channel)

    def kill(self) -> None:
        """End it and everything in it at once; `end` still has to be called."""
        self._signal(self.command.end_signal)

    async def end(self) -> str:
        """Wait for its end, which hanging up brings about, and force it if need be.

        Returns
        -------
        str
            What it wrote on its standard error.
        """
        for signum in (self.command.end_signal, signal.SIGKILL):
            try:
                await asyncio.wait_for(self._process.wait(), END_TIMEOUT)
                break
            except TimeoutError:
                self._signal(signum)
        await self._process.wait()
        self._channel.close()
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None
        mark = self.command.env.get(MARK)
        if mark:
            # Without a process namespace, nothing else ends what got away from the rest of us.
            await asyncio.to_thread(kill_marked, MARK, mark)
        await asyncio.wait({self._reading_stderr}, timeout=END_TIMEOUT)
        self._reading_stderr.cancel()
        return self._stderr.text()

    async def _put_into_group(self, cgroup: Cgroup, hold: Hold) -> None:
        """Let it go on once it is in the group; end it where it is not."""
        pid = self._process.pid
        putting = asyncio.ensure_future(asyncio.to_thread(lambda: cgroup.add(hold.held(pid))))
        try:
            await asyncio.shield(putting)
            hold.release()
        except BaseException as error:
            # Before the hold is gone, or it would go on.
            self._signal(signal.SIGKILL)
            await asyncio.wait({putting})
            await self.end()
            if isinstance(error, OSError):
                raise GroupRefused from error
            raise

    async def _end_at_once(self) -> None:
        self.kill()
        await self.end()

    async def pause(self) -> None:
        """Nothing: it needs no more than its memory while it is idle."""

    async def wake(self) -> None:
        """Nothing."""

    async def troubles(self, patience: float) -> list[str]:
        """What became of it that the agent should know: the system tells us of nothing."""
        return []

    def _signal(self, signum: int) -> None:
        if self._pidfd is None:
            return
        # Not Process.send_signal: it may reap the process before the event loop does.
        with contextlib.suppress(ProcessLookupError):
            if signum == signal.SIGKILL:
                signal.pidfd_send_signal(self._pidfd, 0)
                # Its group, as bubblewrap's child waits without end for one that is killed early.
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                signal.pidfd_send_signal(self._pidfd, signum)

    async def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        while piece := await self._process.stderr.read(65536):
            self._stderr.add(piece.decode("utf-8", "replace"))


def _hold(command: Command, cgroup: Cgroup | None) -> AbstractContextManager[Hold | None]:
    """What holds a process back until it is in its group, if it is to be in one."""
    if cgroup is None:
        return nullcontext()
    return closing(command.hold or Hold())
