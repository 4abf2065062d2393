"""The image of Docker sandboxes in the settings: looked into, pulled with progress, stopped."""

from __future__ import annotations

import re
from collections.abc import Iterator

import docker
import pytest
from docker_image.registry import NAME, registry
from model_server import ModelServer, call
from playwright.sync_api import Locator, expect
from ui.lab_server import LabServer
from ui.panel import Panel
from ui.test_looks import OVERFLOWING

pytestmark = pytest.mark.docker

LABEL = "Image of the containers"


@pytest.fixture(scope="module")
def _lab(
    _model: ModelServer, docker_host: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LabServer]:
    environ = {
        "LLM_MODEL": "openai/scripted",
        "LLM_BASE_URL": _model.url,
        "OPENAI_API_KEY": "key-of-the-environment",
        "DOCKER_HOST": docker_host,
    }
    server = LabServer(tmp_path_factory.mktemp("lab-docker"), environ)
    server.start()
    # A container is never run as root.
    server.root.chmod(0o777)
    yield server
    server.stop()


@pytest.fixture
def lab(lab: LabServer) -> LabServer:
    lab.call("PUT", "settings", {"docker_image": None})
    return lab


def image_field(panel: Panel) -> Locator:
    """The image's part of the settings, with Docker chosen."""
    panel.root.get_by_role("button", name="Settings").click()
    form = panel.root.get_by_role("form", name="Settings")
    form.get_by_label("Isolation of new sessions").select_option("docker")
    return form.locator(".jp-OpenHands-field").filter(has_text=LABEL)


def choose(field: Locator, name: str) -> None:
    """Type a name and leave the field, by keyboard."""
    field.get_by_label(LABEL, exact=True).fill(name)
    field.get_by_label(LABEL, exact=True).press("Tab")


def test_an_image_is_looked_into_and_pulled_only_when_asked(
    panel: Panel, docker_settings: object, docker_host: str
) -> None:
    client = docker.DockerClient(base_url=docker_host)
    field = image_field(panel)
    expect(field).to_contain_text("minimal-notebook is not on this machine")
    choose(field, docker_settings.image)
    expect(field).to_contain_text("Ready: it has Python 3.")
    expect(field.get_by_role("button", name="Pull the image")).to_have_count(0)
    with registry(30_000_000) as served:
        image = f"{served.host}/{NAME}"
        served.hold.clear()
        choose(field, image)
        expect(field).to_contain_text("is not on this machine")
        field.get_by_role("button", name="Pull the image").press("Enter")
        progress = field.get_by_role("progressbar", name="Progress of the pull")
        expect(progress).to_have_attribute("value", re.compile("^[1-9]"))
        field.get_by_role("button", name="Cancel").press("Enter")
        expect(field).to_contain_text("is not on this machine")
        served.hold.set()
        assert served.gone.wait(20)
        field.get_by_role("button", name="Pull the image").press("Enter")
        expect(field).to_contain_text("The image lacks a shell (bash).")
        expect(field).to_contain_text("pip install ipykernel")
        assert client.images.get(image)
        client.images.remove(image, force=True)
        choose(field, f"{image}:other")
        field.get_by_role("button", name="Pull the image").press("Enter")
        expect(field).to_contain_text("manifest unknown")
    client.close()


def test_the_card_of_a_missing_image_leads_to_the_settings(
    panel: Panel, lab: LabServer, model: ModelServer
) -> None:
    lab.call("PUT", "settings", {"isolation": "docker", "docker_image": "openhands-none"})
    model.play(call("run_code", code="1"))
    panel.send("Do it")
    card = panel.log.locator(".jp-OpenHands-error").filter(
        has_text="The Docker image openhands-none is not on this machine."
    )
    card.get_by_role("button", name="Open the settings").first.click()
    form = panel.root.get_by_role("form", name="Settings")
    expect(form.get_by_label(LABEL, exact=True)).to_have_value("openhands-none")
    expect(form.get_by_role("button", name="Pull the image")).to_be_visible()
    panel.set_width(320)
    assert panel.root.evaluate(OVERFLOWING) == []
