"""Runs all attacks on one sandbox; this process stands for the Jupyter server.

Its argument is a JSON file, see `columns.Attacker`. It is started in a process namespace of
its own where that is possible, so that what gets out of a sandbox does not get far.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from openhands_jupyter.events import CmdOutputObservation, CmdRunAction
from openhands_jupyter.runtime import SandboxRuntime
from openhands_jupyter.runtime.docker.settings import DockerSettings
from openhands_jupyter.runtime.egress import (
    EgressProxy,
    Network,
    NetworkPolicy,
    NetworkSettings,
    Rule,
    Upstream,
)
from openhands_jupyter.runtime.environment import packages
from openhands_jupyter.runtime.limits import Limits

from . import scenarios
from .catalogue import ATTACKS, Attack
from .world import World

LIMITS = Limits(memory=0.25, processes=100, disk=0.1)
KILLED = "of memory for everything in the sandbox was reached, and a process was killed"
REMARK = "which programs outside the sandbox may execute later"


class Column:
    """A sandbox and the world around it.

    Attributes
    ----------
    runtime
        What runs in the sandbox.
    world
        What is outside.
    isolation
        Which kind of sandbox it is.
    """

    def __init__(self, specification: dict[str, Any]) -> None:
        self.isolation = specification["isolation"]
        self._specification = specification
        self._secret = os.environ["SOME_API_KEY"]
        self.world = World(Path(specification["base"]), specification["owner"], self._secret)
        self.lost: list[str] = []
        # Root keeps what is others' in a folder of the system, which is none of the world's.
        packages.OF_OTHERS = self.world.home.parent / "packages"

    async def run(self) -> dict[str, Any]:
        """Run all; what came of each."""
        self.world.build()
        self.world.tell()
        self.runtime = self.make_runtime()
        try:
            found = await self.runtime.start()
            await self._check_the_way_out()
            sandbox = self.runtime._sandbox
            assert sandbox is not None
            groups = self.isolation == "docker" or (
                sandbox.cgroup is not None and "memory" in sandbox.cgroup.enforced
            )
            results = {a.name: await self._attempt(a) for a in ATTACKS if self._applies(a)}
            return {
                "level": found.level,
                "backend": found.backend,
                "groups": groups,
                "results": results,
            }
        finally:
            await self.runtime.close()
            self.world.close()

    def make_runtime(self) -> SandboxRuntime:
        """A runtime, not started."""
        options: dict[str, Any] = {}
        if self.isolation in ("bubblewrap", "docker"):
            options["network"] = self._network()
        if self.isolation == "docker":
            options["docker"] = DockerSettings(image=self._specification["image"])
        return SandboxRuntime(
            self.world.workspace, self.isolation, timeout=60, limits=LIMITS, **options
        )

    async def act(self, action: Any) -> Any:
        """Run an action as a session would."""
        return await self.runtime.run_action(action, lambda _: None)

    async def sh(self, command: str, seconds: float = 60) -> CmdOutputObservation:
        """Run a command."""
        observation = await self.act(CmdRunAction(command=command, timeout=seconds))
        assert isinstance(observation, CmdOutputObservation), observation
        return observation

    def _applies(self, attack: Attack) -> bool:
        if self.isolation == "none" and not attack.control:
            return False
        needs = attack.needs
        return needs != "own_process_namespace" or self._specification["own_process_namespace"]

    async def _attempt(self, attack: Attack) -> dict[str, Any]:
        try:
            if hasattr(scenarios, attack.program):
                trouble = await getattr(scenarios, attack.program)(self)
                result = {"worked": bool(trouble), "told": False, "detail": trouble}
            else:
                async with self._alone_if_a_bomb(attack):
                    result = await self._run_program(attack)
        except Exception as error:
            result = {"worked": None, "told": False, "detail": f"{type(error).__name__}: {error}"}
            # The next one shall find everything in order.
            await self.runtime.close()
        await asyncio.sleep(0)
        damage = self.world.damage()
        if damage:
            result |= {"worked": True, "detail": f"{damage} ({result['detail'][-500:]})"}
        result["detail"] = str(result["detail"]).replace(self._secret, "<secret>")[-1000:]
        return result

    @contextlib.asynccontextmanager
    async def _alone_if_a_bomb(self, attack: Attack) -> AsyncIterator[None]:
        """Where others delete at the same time, nobody sees how it fills the disk."""
        if attack.program != "bombs":
            yield
            return
        lock = await asyncio.to_thread(_locked, self._specification["one_bomb"])
        try:
            yield
        finally:
            os.close(lock)

    async def _run_program(self, attack: Attack) -> dict[str, Any]:
        command = f"python3 attacks/attempt.py {attack.program} {attack.argument}"
        observation = await self.sh(f"{command} attacks/world.json")
        told = REMARK in observation.content
        if observation.interrupted:
            detail = f"{observation.interrupted}: {observation.content[-300:]}"
            return {"worked": False, "told": told, "detail": detail}
        full = observation.full_output or observation.content
        answers = [line for line in full.splitlines() if line.startswith('{"worked"')]
        if not answers and KILLED in full:
            # What it left in memory would kill the next ones too.
            await self.runtime.close()
            return {"worked": False, "told": told, "detail": "it was killed at its limit"}
        if not answers:
            return {"worked": None, "told": told, "detail": f"no answer: {full[-500:]}"}
        answer = json.loads(answers[-1])
        worked = {
            "program": answer["worked"],
            "secret": self._secret in answer["detail"],
            "outside": False,
        }[attack.judge]
        return {"worked": worked, "told": told, "detail": answer["detail"]}

    def _network(self) -> Network:
        rules = [Rule(host, port) for host, port in self.world.allowed]
        proxy = EgressProxy(
            NetworkPolicy(mode="allow-list", rules=rules),
            lambda _: None,
            trusted_networks=["127.0.0.2/32"],
            resolve=self.world.resolve,
            upstream=Upstream({}),
        )
        return Network(proxy, NetworkSettings(), lambda: self.lost.append("lost"))

    async def _check_the_way_out(self) -> None:
        """What is allowed is reached, so that a refusal means something."""
        if self.isolation in ("bubblewrap", "docker"):
            asked = "python3 attacks/attempt.py network allowed attacks/world.json"
            answer = await self.sh(asked)
            assert '"worked": true' in answer.content, answer


def _locked(path: str) -> int:
    """A descriptor of a file, once nobody else has it locked; it is locked until it is closed."""
    file = os.open(path, os.O_RDONLY)
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


if __name__ == "__main__":
    wanted = json.loads(Path(sys.argv[1]).read_text())
    answers = asyncio.run(Column(wanted).run())
    Path(wanted["results"]).write_text(json.dumps(answers))
