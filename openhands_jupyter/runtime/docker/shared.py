"""One container for all sessions of a workspace, each with an agentd of its own in it.

Its main process waits for the end of its input; the agentds are started beside it, as by ``docker
exec``, and are reached as in a container elsewhere: nothing can be mounted later.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
from typing import TYPE_CHECKING

from ..agentd.processes import MARK
from ..agentd.text import HeadAndTail
from ..launch import BackendUnavailable, Command, Launch
from ..rundir import RunDirectory
from .container import STDERR_CHARACTERS, Container
from .daemon import explained
from .description import Image, command, user_in
from .engine import Engine
from .group import ContainerGroup
from .news import END_TIMEOUT
from .remote import agentd_archive
from .stream import Stream, open_stream

if TYPE_CHECKING:
    from docker import DockerClient

_HOLD = ["python3", "-I", "-S", "-c", "import os\nwhile os.read(0, 65536): pass"]
_ROUND = 0.05
_START = b'{"Detach": false, "Tty": false}'

NOT_HELD = (
    "the other sessions of this workspace from this one: they are in the same container, share its "
    "memory, its processes and its /tmp, and end with it"
)

_holders: dict[str, Holder] = {}


class Holder(Container):
    """The container, and how many sessions are in it.

    Parameters
    ----------
    launch
        That of the first session in it.
    key
        What sessions have to have in common.

    Attributes
    ----------
    tenants
        How many sandboxes there are in it.
    ready
        Done when it runs.
    """

    can_pause = False
    tunnelled = True

    def __init__(self, launch: Launch, key: str) -> None:
        directory = RunDirectory.create(launch.owner)
        super().__init__(dataclasses.replace(launch, run_directory=directory))
        self.key = key
        self.tenants = 0
        self.ready = asyncio.ensure_future(self.start())

    @property
    def over(self) -> bool:
        """Whether it ended."""
        return self.news.ended or self._hung_up or self.news.expected

    async def run(self, launch: Launch) -> tuple[str, Command]:
        """Have a process of a sandbox in it; the address of its stream, and what it is."""

        def create(client: DockerClient) -> tuple[str, Command]:
            image = Image.found(client, self._settings.image)
            engine = Engine.at(self._daemon.endpoint, client)
            inside = command(launch, image, engine, tunnelled=True)
            user = user_in(launch, engine)
            inside.env[MARK] = launch.run_directory.path.name
            # In the folder for temporary files are those of the other sessions too.
            inside.scratch = inside.folder
            inside.missing = (NOT_HELD,)
            made = client.api.exec_create(
                self._id,
                inside.argv,
                stdin=True,
                environment=inside.env,
                user=f"{user.uid}:{user.gid}",
                workdir=str(launch.workspace),
            )
            return f"/v{client.api.api_version}/exec/{made['Id']}", inside

        return await self._daemon.call(create)

    async def attach(self, tenant: Tenant, path: str) -> Stream:
        """Start what was made to run."""
        endpoint = self._daemon.endpoint
        try:
            return await open_stream(
                endpoint, f"{path}/start", tenant.add_stderr, lambda: None, _START
            )
        except OSError as error:
            raise explained(error, endpoint.host) from error

    async def runs(self, path: str) -> bool:
        """Whether that still runs."""
        identity = path.rpartition("/")[2]
        with contextlib.suppress(BackendUnavailable):
            found = await self._daemon.call(lambda client: client.api.exec_inspect(identity))
            return bool(found["Running"])
        return False

    def give_up(self, reason: str) -> None:
        """End it for all that are in it."""
        self.news.add(reason)
        self.kill()

    async def leave(self) -> None:
        """One sandbox less; the last one ends it."""
        self.tenants -= 1
        if self.tenants:
            return
        if _holders.get(self.key) is self:
            del _holders[self.key]
        await asyncio.wait({self.ready})
        await self.end()
        self._launch.run_directory.remove()

    def _main_process(self) -> list[str]:
        return _HOLD

    def _first_input(self) -> bytes:
        return b""


async def start(launch: Launch) -> Tenant:
    """Start a sandbox in the container of its workspace, which is made if need be; see
    `container.start`."""
    holder = await _entered(launch)
    tenant = Tenant(holder, launch)
    try:
        await tenant.start()
    except BaseException:
        await tenant.end()
        raise
    return tenant


async def _entered(launch: Launch) -> Holder:
    packages = launch.packages.inside if launch.packages else ""
    kind = (launch.docker, repr(launch.shared_limits), launch.owner, packages)
    key = repr((str(launch.workspace), kind, os.environ.get("DOCKER_HOST")))
    holder = _holders.get(key)
    if holder is None or holder.over:
        holder = _holders[key] = Holder(launch, key)
    holder.tenants += 1
    try:
        await asyncio.shield(holder.ready)
    except BaseException:
        await holder.leave()
        raise
    return holder


class Tenant:
    """One sandbox in a container with others.

    Attributes
    ----------
    command
        What runs in it.
    elsewhere
        None: it shares the workspace's files of this machine.
    """

    elsewhere = None
    can_pause = False

    def __init__(self, holder: Holder, launch: Launch) -> None:
        self.command = Command(argv=[], env={})
        self._holder = holder
        self._launch = launch
        self._path = ""
        self._stream: Stream | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._ending: asyncio.Future[None] | None = None
        self._told = len(holder.news.sentences)
        self._stderr = HeadAndTail(STDERR_CHARACTERS)

    @property
    def cgroup(self) -> ContainerGroup:
        """The limits of the container, for all that is in it."""
        return self._holder.cgroup

    async def start(self) -> None:
        """Start it; see `start`."""
        self._path, self.command = await self._holder.run(self._launch)
        self._stream = await self._holder.attach(self, self._path)
        self._writer = self._stream[1]
        self._writer.write(agentd_archive())

    async def open(self) -> Stream:
        """The stream to agentd; closing it ends what is in the sandbox."""
        assert self._stream is not None
        return self._stream

    def kill(self) -> None:
        """End it at once; `end` still has to be called."""
        if self._ending is None:
            self._ending = asyncio.ensure_future(self._end())

    async def end(self) -> str:
        """End it, with the whole container where hanging up does not; see `Started.end`."""
        self.kill()
        assert self._ending is not None
        await asyncio.wait({self._ending})
        await self._holder.leave()
        return self._stderr.text()

    async def pause(self) -> None:
        """Nothing, as others may be at work."""

    async def wake(self) -> None:
        """Nothing."""

    async def troubles(self, patience: float) -> list[str]:
        """What became of it; see `Started.troubles`."""
        told = await self._holder.news.after(self._told, patience)
        self._told += len(told)
        return told

    def add_stderr(self, piece: bytes) -> None:
        """Keep what it says on its standard error."""
        self._stderr.add(piece.decode("utf-8", "replace"))

    async def _end(self) -> None:
        if self._writer is None:
            return
        self._writer.close()
        for _ in range(round(END_TIMEOUT / _ROUND)):
            if not await self._holder.runs(self._path):
                return
            await asyncio.sleep(_ROUND)
        self._holder.give_up("The container was ended, as a session in it could not be.")
