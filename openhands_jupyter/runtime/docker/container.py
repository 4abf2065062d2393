"""A container from its creation to its removal."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..agentd.text import HeadAndTail
from ..launch import BackendUnavailable, Command, Launch
from .daemon import Daemon, explained
from .description import Image, command, container
from .engine import Engine
from .news import News
from .remote import agentd_archive
from .stream import Stream, open_stream
from .sweep import sweep

if TYPE_CHECKING:
    from docker import DockerClient

STDERR_CHARACTERS = 8_000

_paused: dict[Container, None] = {}
"""The containers of this process that are paused, in the order in which they were."""

_NAMES = 5


async def start(launch: Launch) -> Container:
    """Create a container and start it.

    Raises
    ------
    ImageMissing
        When the image is not on this machine: it is never pulled silently.
    BackendUnavailable
        When the daemon cannot be used, refuses, or there are too many containers already.
    """
    started = Container(launch)
    starting = asyncio.ensure_future(started.start())
    try:
        await asyncio.shield(starting)
    except BaseException:
        # The thread goes on; what it makes has to be removed.
        await asyncio.wait({starting})
        await started.end()
        raise
    return started


class Container:
    """The container of one sandbox; `start` makes them.

    Attributes
    ----------
    command
        What runs in it.
    cgroup
        The limits that Docker holds it to.
    elsewhere
        None: it shares the files of this machine.
    tunnelled
        Whether its sockets are reached through the channel, wherever the daemon is.
    news
        What Docker tells of it.
    """

    elsewhere = None
    can_pause = False
    tunnelled = False

    def __init__(self, launch: Launch) -> None:
        self.command = Command(argv=[], env={})
        self.news = News()
        self.cgroup = self.news.cgroup
        self._launch = launch
        self._settings = launch.docker
        self._daemon = Daemon()
        self._id = ""
        self._stream: Stream | None = None
        self._pausing = asyncio.Lock()
        self._wanted_paused = False
        self._hung_up = False
        self._killing: asyncio.Future[None] | None = None
        self._told = 0
        self._stderr = HeadAndTail(STDERR_CHARACTERS)

    async def start(self) -> None:
        """Create and start it; see `start`."""
        await self._make_room()
        path = await self._daemon.call(self._create)
        endpoint = self._daemon.endpoint
        try:
            # Before it runs, so that its input is never without somebody who can end it.
            self._stream = await open_stream(endpoint, path, self._add_stderr, self._note_hang_up)
        except OSError as error:
            raise explained(error, endpoint.host) from error
        await self._daemon.call(lambda client: client.api.start(self._id))
        self._stream[1].write(self._first_input())

    async def open(self) -> Stream:
        """The stream to agentd; closing it ends the container."""
        assert self._stream is not None
        stream, self._stream = self._stream, None
        return stream

    def kill(self) -> None:
        """End it at once; `end` still has to be called."""
        # Where it ended before, the reason is still to be told.
        self.news.expected |= not self._hung_up
        if self._killing is None and self._id:
            self._killing = asyncio.ensure_future(self._kill())

    async def end(self) -> str:
        """Remove it, at once where hanging up has not ended it.

        Returns
        -------
        str
            What agentd wrote on its standard error.
        """
        self.news.expected = True
        if self._stream is not None:
            self._stream[1].close()
            self._stream = None
        if self._killing is not None:
            await asyncio.wait({self._killing})
        if self._id:
            if self not in _paused:
                await self.news.wait_for_end()
            # Where the daemon is gone, the next sandbox sweeps it.
            with contextlib.suppress(BackendUnavailable):
                await self._daemon.call(self._remove)
            self._id = ""
        _paused.pop(self, None)
        await self.news.stop()
        self._daemon.close()
        return self._stderr.text()

    async def pause(self) -> None:
        """Stop all that is in it until it is woken; it keeps its memory."""
        self._wanted_paused = True
        # The call goes on where the caller is cancelled, and waking has to come after it.
        await asyncio.shield(asyncio.ensure_future(self._pause()))

    async def wake(self) -> None:
        """Let it go on, if it was paused."""
        self._wanted_paused = False
        if self in _paused or self._pausing.locked():
            async with self._pausing:
                if self in _paused:
                    await self._daemon.call(lambda client: _if_there(client.api.unpause, self._id))
                    _paused.pop(self, None)

    async def _pause(self) -> None:
        async with self._pausing:
            if self._wanted_paused and self._id and not self.news.expected and self not in _paused:
                await self._daemon.call(lambda client: _if_there(client.api.pause, self._id))
                _paused[self] = None

    async def troubles(self, patience: float) -> list[str]:
        """What Docker told of its end; see `Started.troubles`."""
        told = await self.news.after(self._told, patience)
        self._told += len(told)
        return told

    async def _make_room(self) -> None:
        """End the container of ours that is paused for longest, where there are too many."""
        _, there = await self._daemon.call(sweep)
        if there < self._settings.most_containers:
            return
        if not _paused:
            raise BackendUnavailable(
                f"There are {there} sandboxes in Docker already, and no more are allowed.",
                "Close a session, or remove what is left of old ones with "
                "'jupyter openhands sandbox prune'.",
            )
        longest = next(iter(_paused))
        del _paused[longest]
        longest.news.add("The container was ended to make room for another session's.")
        longest.kill()
        if longest._killing is not None:
            await asyncio.wait({longest._killing})
        await longest.news.wait_for_end()

    def _create(self, client: DockerClient) -> str:
        """Create it; the address of its stream."""
        image = Image.found(client, self._settings.image)
        endpoint = self._daemon.endpoint
        remote = not endpoint.is_here or bool(self._settings.root_there)
        engine = Engine.at(endpoint, client)
        self.can_pause = engine.can_pause and not self.tunnelled
        self.cgroup.enforced = engine.enforces
        self.command = command(self._launch, image, engine, remote or self.tunnelled)
        self.command.argv = self._main_process()
        description = container(client, self._launch, image, self.command, engine, endpoint.host)
        self._id = self._named(client, description)
        self.news.watch(client, self._id)
        query = "stdin=1&stdout=1&stderr=1&stream=1"
        return f"/v{client.api.api_version}/containers/{self._id}/attach?{query}"

    def _main_process(self) -> list[str]:
        return self.command.argv

    def _first_input(self) -> bytes:
        return agentd_archive() if self.command.folder else b""

    def _named(self, client: DockerClient, description: dict[str, Any]) -> str:
        import docker.errors

        name = f"openhands-{self._launch.run_directory.path.name}"
        for left in reversed(range(_NAMES)):
            try:
                created = client.api.create_container(name=name, **description)
            except docker.errors.APIError as error:
                if error.status_code != 409 or not left:
                    raise
                name = f"openhands-{secrets.token_hex(6)}"
            else:
                return str(created["Id"])
        raise AssertionError

    def _add_stderr(self, piece: bytes) -> None:
        self._stderr.add(piece.decode("utf-8", "replace"))

    def _note_hang_up(self) -> None:
        self._hung_up = True

    async def _kill(self) -> None:
        import docker.errors

        def kill(client: DockerClient) -> None:
            with contextlib.suppress(docker.errors.APIError):
                client.api.kill(self._id)

        with contextlib.suppress(BackendUnavailable):
            await self._daemon.call(kill)

    def _remove(self, client: DockerClient) -> None:
        import docker.errors

        with contextlib.suppress(docker.errors.NotFound):
            client.api.remove_container(self._id, v=True, force=True)


def _if_there(act: Callable[[str], None], container: str) -> None:
    """Do something to a container that may have ended meanwhile."""
    import docker.errors

    with contextlib.suppress(docker.errors.NotFound):
        try:
            act(container)
        except docker.errors.APIError as error:
            if error.status_code != 409 and "is not running" not in str(error.explanation):
                raise
