"""What daemons say of themselves, as they did when they were tried; see docs/docker.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from openhands_jupyter.errors import SandboxUnavailable
from openhands_jupyter.runtime.docker.description import user_in
from openhands_jupyter.runtime.docker.engine import Engine
from openhands_jupyter.runtime.docker.settings import DockerSettings
from openhands_jupyter.runtime.launch import Launch
from openhands_jupyter.runtime.owner import Owner
from openhands_jupyter.runtime.rundir import RunDirectory

ALL = {"memory", "processes", "cpus"}
KERNEL = {"MemoryLimit": True, "PidsLimit": True, "CpuCfsQuota": True}
ROOTLESS = {"SecurityOptions": ["name=seccomp,profile=default", "name=rootless"]}
PODMAN = {"BuildahVersion": "1.28.2", "SecurityOptions": ["name=seccomp,profile=default"]}
ME = 4444


def launch(owner: int, **settings: str) -> Launch:
    directory = RunDirectory(Path("/nowhere"), lock=-1)
    return Launch(
        Path("/work"), directory, owner=Owner(owner, owner), docker=DockerSettings(**settings)
    )


def test_docker_of_root():
    found = Engine.described({**KERNEL, "CgroupVersion": "1", "SecurityOptions": None}, 0)
    assert (found.podman, found.rootless, found.enforces) == (False, False, ALL)
    assert found.can_pause
    assert user_in(launch(ME), found) == (ME, ME)


def test_docker_without_root():
    without = dict.fromkeys(KERNEL, False)
    old = Engine.described({**without, **ROOTLESS, "CgroupVersion": "1"}, ME)
    assert (old.podman, old.rootless, old.enforces, old.can_pause) == (False, True, set(), False)
    # systemd need not hand over the processors.
    new = Engine.described({**KERNEL, "CpuCfsQuota": False, **ROOTLESS, "CgroupVersion": "2"}, ME)
    assert (new.rootless, new.enforces, new.can_pause) == (True, ALL - {"cpus"}, True)
    assert user_in(launch(ME), new) == (0, 0)


def test_podman_without_root_says_more_than_there_is():
    found = Engine.described({**KERNEL, **PODMAN, "Rootless": True, "CgroupVersion": "1"}, ME)
    assert (found.podman, found.rootless, found.enforces) == (True, True, set())
    of_root = Engine.described({**KERNEL, **PODMAN, "Rootless": False, "CgroupVersion": "1"}, 0)
    assert (of_root.podman, of_root.rootless, of_root.enforces) == (True, False, ALL)


def test_one_without_root_works_for_its_user_alone():
    found = Engine.described({**KERNEL, **ROOTLESS, "CgroupVersion": "2"}, ME)
    with pytest.raises(SandboxUnavailable, match="by the ordinary user 4444") as refused:
        user_in(launch(1000), found)
    assert "a folder of that user" in refused.value.hint
    # Elsewhere, whose the socket of a tunnel is tells nothing.
    assert user_in(launch(1000, root_there="/there"), found) == (0, 0)
    unknown = Engine.described({**KERNEL, **ROOTLESS, "CgroupVersion": "2"}, None)
    assert user_in(launch(1000), unknown) == (0, 0)
