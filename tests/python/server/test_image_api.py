"""The image of Docker sandboxes: looked into, and pulled only when asked, with progress."""

from __future__ import annotations

import asyncio
from typing import Any

import docker
import pytest
from docker_image.registry import NAME, registry
from waiting import PATIENCE

pytestmark = pytest.mark.docker

ROUTE = "sandbox/image"


@pytest.fixture(autouse=True)
def host(docker_host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", docker_host)


async def status_once(api: Any, image: str, wanted: Any) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        while True:
            status: dict[str, Any] = (await api("GET", ROUTE, image=image)).body
            if wanted(status):
                return status
            await asyncio.sleep(0.05)


async def test_a_good_image_is_ready(api: Any, docker_settings: Any) -> None:
    await api("PUT", "settings", {"docker_image": docker_settings.image})
    body = (await api("GET", ROUTE)).body
    assert body["image"] == docker_settings.image
    assert (body["state"], body["lacks"], body["message"]) == ("ready", [], "")
    assert body["python"].startswith("3.")
    assert body["ipykernel"]


async def test_the_default_image_is_missing_with_what_to_do(api: Any) -> None:
    body = (await api("GET", ROUTE)).body
    assert body["state"] == "missing"
    assert body["image"] == "quay.io/jupyter/minimal-notebook"
    assert "docker pull" in body["hint"]


async def test_a_daemon_that_is_not_there(api: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    body = (await api("GET", ROUTE)).body
    assert body["state"] == "unavailable"
    assert "No Docker daemon answers" in body["message"]


async def test_a_pull_is_told_of_and_stopped(api: Any, docker_host: str) -> None:
    client = docker.DockerClient(base_url=docker_host)
    with registry(30_000_000) as served:
        image = f"{served.host}/{NAME}"
        served.hold.clear()
        begun = await api("POST", ROUTE, {"image": image})
        assert (begun.status, begun.body["state"]) == (202, "pulling")
        halfway = await status_once(api, image, lambda status: status["done"] > 0)
        assert halfway["state"] == "pulling"
        assert halfway["total"] > halfway["done"]
        # It is the same pull, asked for twice.
        assert (await api("POST", ROUTE, {"image": image})).body["state"] == "pulling"
        assert (await api("DELETE", ROUTE, image=image)).status == 204
        assert (await api("GET", ROUTE, image=image)).body["state"] == "missing"
        # It notices with the next bytes that come.
        served.hold.set()
        assert await asyncio.to_thread(served.gone.wait, 20)
        await api("POST", ROUTE, {"image": image})
        # What was pulled has nothing in it that a sandbox needs.
        pulled = await status_once(api, image, lambda status: status["state"] != "pulling")
        client.images.remove(image, force=True)
    client.close()
    assert pulled["state"] == "incomplete"
    assert pulled["lacks"] == ["a shell (bash)"]
    assert "pip install ipykernel" in pulled["hint"]


async def test_a_pull_that_fails_says_why(api: Any) -> None:
    with registry() as served:
        image = f"{served.host}/{NAME}:other"
        await api("POST", ROUTE, {"image": image})
        failed = await status_once(api, image, lambda status: status["state"] != "pulling")
    assert failed["state"] == "missing"
    assert "cannot be pulled" in failed["message"]
    assert "manifest unknown" in failed["message"]


async def test_a_pull_ends_with_the_server(api: Any, services: Any) -> None:
    with registry(30_000_000) as served:
        image = f"{served.host}/{NAME}"
        served.hold.clear()
        await api("POST", ROUTE, {"image": image})
        await status_once(api, image, lambda status: status["done"] > 0)
        await services.close()
        served.hold.set()
        assert await asyncio.to_thread(served.gone.wait, 20)


@pytest.mark.parametrize("image", ["../containers/x", "a b", "/x", "x/../y", ""])
async def test_what_is_no_name_of_an_image(api: Any, image: str) -> None:
    answer = await api("POST", ROUTE, {"image": image})
    assert (answer.status, answer.body["field"]) == (422, "image")


async def test_a_locked_image_is_the_only_one(api: Any, services: Any) -> None:
    services.config.locked = frozenset({"docker_image"})
    answer = await api("POST", ROUTE, {"image": "other"})
    assert (answer.status, answer.body["code"]) == (409, "setting_locked")
    assert (await api("GET", ROUTE)).body["state"] == "missing"
