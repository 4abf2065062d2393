"""What a container is made of: user, mounts, limits and rights."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from ..agentd.relay import PORT
from ..bubblewrap import HOME, INSIDE
from ..egress.settings import proxy_environment
from ..launch import AGENTD, BackendUnavailable, Command, Confinement, Launch
from ..limits import Limits
from ..owner import Owner
from ..view import DEVICES, environment, protected_in
from .daemon import ImageMissing
from .engine import Engine
from .remote import LOAD, path_there
from .sweep import labels

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.types import Mount

STRANGER = Owner(1000, 1000)
"""Who works on a folder of root that everybody may write to."""

_UNLISTED = f"{INSIDE}/unlisted"
_TMPFS = {"/tmp": "2048m", HOME: "1024m"}
_SHARED_MEMORY = "256m"
_CERTIFICATES = "certificates.pem"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_START = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from agentd.standard_streams import main; main(sys.argv[2])"
)


def user_for(workspace: Path) -> tuple[Owner | None, str]:
    """Say who the container on this workspace is to be run as, if not the server's own user.

    Returns
    -------
    tuple
        The workspace's owner where the server is root, else None; and an empty sentence.

    Raises
    ------
    BackendUnavailable
        When that would be root.
    """
    if os.geteuid() != 0:
        return None, ""
    info = workspace.stat()
    if info.st_uid != 0:
        try:
            return Owner(info.st_uid, pwd.getpwuid(info.st_uid).pw_gid), ""
        except KeyError:
            return Owner(info.st_uid, info.st_gid), ""
    if info.st_mode & 0o007 == 0o007:
        return STRANGER, ""
    raise BackendUnavailable(
        f"The workspace {workspace} belongs to root, and a container is never run as root.",
        f"Give it to an ordinary user, for example: chown -R {STRANGER.uid}:{STRANGER.gid} "
        f"'{workspace}'.",
    )


@dataclass
class Image:
    """An image that is here.

    Attributes
    ----------
    name
        As in the settings.
    environment
        The variables that it sets.
    volumes
        The folders that would get storage of their own, without a limit.
    """

    name: str
    environment: dict[str, str]
    volumes: list[str]

    @classmethod
    def found(cls, client: DockerClient, name: str) -> Image:
        """Look it up.

        Raises
        ------
        ImageMissing
            When it is not on this machine: it is never pulled silently.
        """
        import docker.errors

        try:
            config = client.images.get(name).attrs["Config"] or {}
        except docker.errors.ImageNotFound as error:
            raise ImageMissing(name) from error
        pairs = (variable.partition("=") for variable in config.get("Env") or ())
        variables = {variable: value for variable, _, value in pairs}
        return cls(name, variables, list(config.get("Volumes") or ()))


def command(launch: Launch, image: Image, engine: Engine, tunnelled: bool) -> Command:
    """What runs in the container, and with which environment.

    Parameters
    ----------
    launch
        The sandbox.
    image
        What the container is made of.
    engine
        What runs it.
    tunnelled
        Whether nothing but the workspace is shared with this machine: agentd comes in through the
        stream, and sockets are reached through it.
    """
    name = launch.run_directory.path.name
    folder = f"/tmp/.openhands-{name}" if tunnelled else ""
    files: dict[str, str] = {}
    env = {**image.environment, **environment(HOME, "/tmp"), "HOSTNAME": "sandbox"}
    # Those are the server's Python's.
    del env["PYTHONUSERBASE"]
    env["PATH"] = image.environment.get("PATH", _PATH)
    if engine.podman:
        # It sets these itself, so they are not the server's.
        env |= {"container": "podman", "TERM": "xterm"}
    if launch.network is not None:
        certificates = ""
        if launch.network.ca_bundle:
            files[_CERTIFICATES] = launch.network.certificates()
            certificates = f"{folder or launch.run_directory.egress}/{_CERTIFICATES}"
        env |= proxy_environment(PORT) | launch.network.environment(certificates)
    return Command(
        argv=[
            *("python3", "-I", "-S", "-c", LOAD + _START if tunnelled else _START),
            str(INSIDE / name if tunnelled else INSIDE),
            _second_layer(launch, engine, tunnelled),
        ],
        env=env,
        unlisted_folder=_UNLISTED,
        # Docker gives its containers the machine's user namespace, and an ordinary user in it.
        shared_namespaces=("user",) if not engine.rootless else (),
        folder=folder,
        files=files,
    )


def container(
    client: DockerClient,
    launch: Launch,
    image: Image,
    command: Command,
    engine: Engine,
    host: str,
) -> dict[str, Any]:
    """The arguments for Docker's call that creates it.

    Raises
    ------
    BackendUnavailable
        When the daemon at ``host`` does not have the workspace, or cannot work on it.
    """
    from docker.types import LogConfig

    user = user_in(launch, engine)
    tunnelled = bool(command.folder)
    return {
        "image": image.name,
        "entrypoint": command.argv[:1],
        "command": command.argv[1:],
        "environment": command.env,
        "user": f"{user.uid}:{user.gid}",
        "working_dir": str(launch.workspace),
        "hostname": "sandbox",
        # With this, the end of the stream is the end of the container's input, and so of agentd.
        "stdin_open": True,
        "labels": labels(launch.run_directory.path),
        "healthcheck": {"test": ["NONE"]},
        "host_config": client.api.create_host_config(
            init=True,
            read_only=True,
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
            network_mode="none",
            ipc_mode="private",
            shm_size=_SHARED_MEMORY,
            **_limits(launch.shared_limits, engine.enforces),
            tmpfs=_memory_folders(launch, image, _options(user, engine), tunnelled),
            mounts=list(_shared(launch, host) if tunnelled else _mounts(launch, user, command)),
            # All that passes the channel would be written to the disk.
            log_config=LogConfig(type="none"),
        ),
    }


def user_in(launch: Launch, engine: Engine) -> Owner:
    """Who it is run as, by the ids inside.

    Raises
    ------
    BackendUnavailable
        When the daemon cannot give its files to the right user.
    """
    owner = launch.owner or Owner(os.geteuid(), os.getegid())
    assert owner.uid != 0
    if not engine.rootless:
        return owner
    # Elsewhere the user is not known: the socket may be that of a tunnel.
    if not launch.docker.root_there and engine.socket_of not in (owner.uid, None):
        raise BackendUnavailable(
            f"Docker is run by the ordinary user {engine.socket_of} (rootless) here, and can work "
            f"on folders of nobody else. {launch.workspace} belongs to user {owner.uid}.",
            "Choose a folder of that user, or set DOCKER_HOST to a daemon of the owner or of root.",
        )
    return Owner(0, 0)


def _limits(limits: Limits, enforced: frozenset[str]) -> dict[str, Any]:
    wanted: dict[str, Any] = {}
    if "memory" in enforced:
        wanted |= {"mem_limit": limits.memory_bytes, "memswap_limit": limits.memory_bytes}
    if "processes" in enforced:
        wanted["pids_limit"] = limits.processes
    if "cpus" in enforced and limits.cpus:
        wanted["nano_cpus"] = int(limits.cpus * 1e9)
    return wanted


def _options(user: Owner, engine: Engine) -> str:
    """How the folders in memory are mounted; there is one user in a container."""
    if engine.podman:
        return "exec,nosuid,nodev,mode=1777"
    # Docker keeps the mode that a folder has in the image, so each belongs to the user.
    return f"exec,nosuid,nodev,mode=0700,uid={user.uid},gid={user.gid}"


def _memory_folders(launch: Launch, image: Image, options: str, tunnelled: bool) -> dict[str, str]:
    sizes = {**dict.fromkeys(image.volumes, "64m"), **_TMPFS, _UNLISTED: "4k"}
    if tunnelled:
        # agentd is put there. It seals it with Landlock, as it does with the rest of the system.
        sizes[str(INSIDE)] = "64m"
        if launch.packages is not None:
            sizes[launch.packages.inside] = _TMPFS[HOME]
    return {name: f"{options},size={size}" for name, size in sizes.items()}


def _mount(source: PurePath, target: PurePath, read_only: bool = True) -> Mount:
    from docker.types import Mount

    # Not as a volume: a missing folder would be made, and belong to root.
    return Mount(str(target), str(source), type="bind", read_only=read_only)


def _mounts(launch: Launch, user: Owner, command: Command) -> Iterator[Mount]:
    directory = launch.run_directory
    yield _mount(AGENTD, INSIDE / "agentd")
    # Under the names that they have outside, so that the connection files are right inside too.
    yield _mount(directory.sockets, directory.sockets, read_only=False)
    yield _mount(directory.connections, directory.connections)
    if launch.network is not None:
        for name, content in command.files.items():
            file = directory.egress / name
            file.write_text(content, "ascii")
            directory.give_to_owner(file)
        yield _mount(directory.egress, directory.egress)
    for path, read_only in _of_workspace(launch.workspace):
        yield _mount(path, path, read_only)
    if launch.packages is not None:
        yield _mount(launch.packages.path, PurePath(launch.packages.inside), read_only=False)
    for name, content in _accounts(user).items():
        file = directory.path / name
        file.write_text(content, "ascii")
        file.chmod(0o644)
        yield _mount(file, Path("/etc", name))


def _shared(launch: Launch, host: str) -> Iterator[Mount]:
    for path, read_only in _of_workspace(launch.workspace):
        yield _mount(path_there(launch.docker, path, host), path, read_only)


def _of_workspace(workspace: Path) -> Iterator[tuple[Path, bool]]:
    yield workspace, False
    yield from protected_in(workspace)


def _accounts(user: Owner) -> dict[str, str]:
    # The first name of a number counts, and without root's rights it need not be called so.
    return {
        "passwd": f"agent:x:{user.uid}:{user.gid}::{HOME}:/bin/bash\nroot:x:0:0::/root:/bin/sh\n",
        "group": f"agent:x:{user.gid}:\nroot:x:0:\n",
    }


def _second_layer(launch: Launch, engine: Engine, tunnelled: bool) -> str:
    sockets = [] if tunnelled else [str(launch.run_directory.sockets)]
    write = [str(launch.workspace), *sockets, *DEVICES, *_TMPFS]
    if launch.packages is not None:
        write.append(launch.packages.inside)
    limits = launch.shared_limits.of_each_process(engine.enforces)
    return Confinement(read=["/"], write=write, limits=limits).encode().decode()
