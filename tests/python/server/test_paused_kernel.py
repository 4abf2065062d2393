"""A console that a person opens at the agent's kernel wakes the container that it is in."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import docker
import pytest
from kernel_client import KernelClient
from model_server import ModelServer, call
from session_tools import until
from waiting import PATIENCE

from openhands_jupyter.runtime import rest
from openhands_jupyter.runtime.docker.sweep import SANDBOX
from openhands_jupyter.session import Session

pytestmark = [
    pytest.mark.docker,
    pytest.mark.sandbox,
    pytest.mark.usefixtures("shared_models"),
]

SECONDS = 0.3
LABELLED = {"label": SANDBOX}


@pytest.fixture
def jp_root_dir(jp_root_dir: Path) -> Path:
    """A container is never run as root."""
    jp_root_dir.chmod(0o777)
    return jp_root_dir


@pytest.fixture
def jp_server_config(
    jp_server_config: dict[str, Any],
    docker_settings: Any,
    docker_host: str,
    model_server: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
) -> dict[str, Any]:
    """A server whose sessions run in containers that are soon paused."""
    monkeypatch.setenv("DOCKER_HOST", docker_host)
    monkeypatch.setenv("LLM_MODEL", "openai/scripted")
    monkeypatch.setenv("LLM_BASE_URL", model_server.url)
    monkeypatch.setenv("LLM_API_KEY", "sk-test")
    monkeypatch.setattr(rest, "LOOK", SECONDS)
    settings = {
        "prewarm": 0,
        "isolation": "docker",
        "docker_image": docker_settings.image,
        "docker_pause_after": SECONDS / 60,
    }
    return {**jp_server_config, "OpenHandsExtension": settings}


async def test_a_console_wakes_a_paused_container(
    model_server: ModelServer,
    session: Session,
    jp_ws_fetch: Any,
    docker_host: str,
) -> None:
    model_server.play(call("run_code", code="answer = 42"), call("finish", message="Done."))
    session.send_message("Go on")
    await until(session, "finished")
    client = docker.DockerClient(base_url=docker_host)

    async def status_is(wanted: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while True:
                (one,) = await asyncio.to_thread(client.containers.list, True, filters=LABELLED)
                if one.status == wanted:
                    return
                await asyncio.sleep(0.05)

    await status_is("paused")
    connection = await jp_ws_fetch("api", "kernels", session.info().kernel, "channels")
    assert await KernelClient(connection).execute("print(answer)") == "42\n"
    connection.close()
    await session.close()
    client.close()
