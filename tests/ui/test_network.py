"""A host is refused, shown, allowed by a click, and taken back; the settings of the network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from model_server import ModelServer, call
from package_index import HOST, INDEX, INSTALL, PackageIndex
from playwright.sync_api import Locator, expect
from ui.lab_server import LabServer
from ui.panel import Panel
from ui.test_looks import OVERFLOWING

NETWORK = [
    "network",
    "network_presets",
    "network_rules",
    "pip_index",
    "npm_registry",
    "conda_channels",
    "ca_bundle",
]
PLACE = f"{HOST}:80"
TRY = call("execute_bash", command=f"PIP_INDEX_URL={INDEX} PIP_TRUSTED_HOST={HOST} {INSTALL}")
DONE = call("finish", message="Done.")


@pytest.fixture(scope="module")
def _lab(_model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """A Lab whose server is behind a proxy, as in an institution."""
    environ = {
        "LLM_MODEL": "openai/scripted",
        "LLM_BASE_URL": _model.url,
        "OPENAI_API_KEY": "key-of-the-environment",
    }
    folder = tmp_path_factory.mktemp("lab-behind-a-proxy")
    with PackageIndex(folder / "index") as index:
        options = [f"--OpenHandsExtension.network_proxy={index.proxy}"]
        server = LabServer(folder, environ, options)
        server.start()
        yield server
        server.stop()


@pytest.fixture
def online(lab: LabServer) -> None:
    """Switch the network on."""
    lab.call("PUT", "settings", {**dict.fromkeys(NETWORK), "network": "allow-list", "mode": "auto"})


def refused(panel: Panel) -> Locator:
    return panel.log.get_by_role("article", name=f"Refused: {PLACE}")


def isolation(panel: Panel) -> Locator:
    """Open what the strip at the bottom says of the isolation."""
    button = panel.status.get_by_role("button", name="solated")
    if button.get_attribute("aria-expanded") != "true":
        button.click()
    return panel.status.get_by_role("dialog", name="Isolation")


def test_a_refused_host_is_allowed_for_the_session_and_revoked(
    online: None, panel: Panel, lab: LabServer, model: ModelServer
) -> None:
    panel.set_width(320)
    model.play(TRY, DONE)
    panel.send("Install tinywheel")
    panel.expect_state("Finished")
    expect(refused(panel)).to_contain_text(f"Network: {PLACE} was not allowed.")
    assert panel.root.evaluate(OVERFLOWING) == []
    panel.page.screenshot(path=_results() / "network-refused-narrow.png")

    refused(panel).get_by_role("button", name="Allow for this session").click()
    expect(refused(panel)).to_contain_text("You allowed it for this session.")
    expect(refused(panel).get_by_role("button")).to_have_count(0)
    model.play(TRY, DONE)
    panel.send("Try again")
    expect(panel.log).to_contain_text("ANSWER = 42")
    panel.expect_state("Finished")

    panel.reload()
    panel.set_width(320)
    details = isolation(panel)
    expect(details).to_contain_text(f"Allowed: {PLACE}")
    assert panel.root.evaluate(OVERFLOWING) == []
    panel.page.screenshot(path=_results() / "network-details-narrow.png")
    details.get_by_role("button", name=f"Revoke {PLACE}").click()
    expect(details).to_contain_text("Nothing is allowed.")
    panel.page.keyboard.press("Escape")
    expect(panel.log).to_contain_text(f"you no longer allow {PLACE}")

    model.play(TRY, DONE)
    panel.send("Once more")
    expect(refused(panel).last.get_by_role("button", name="Allow once")).to_be_visible()
    refused(panel).last.get_by_role("button", name="Allow once").click()
    expect(isolation(panel)).to_contain_text("for the next command")
    [session] = lab.sessions()
    said = [e for e in lab.events(session["id"]) if e["type"] == "NetworkAccessAction"]
    assert [(e["source"], e["access"]) for e in said] == [
        ("user", "session"),
        ("user", "revoked"),
        ("user", "once"),
    ]


def test_the_settings_of_the_network(
    lab: LabServer, panel: Panel, expected_errors: list[str]
) -> None:
    expected_errors.append("422")
    lab.call("PUT", "settings", dict.fromkeys(NETWORK))
    panel.set_width(320)
    panel.status.get_by_title("Model:").click()
    form = panel.root.get_by_role("form", name="Settings")
    group = form.get_by_role("region", name="Network")
    network = group.get_by_role("combobox", name="Network of the sandbox")
    expect(network).to_have_value("off")
    expect(group.get_by_role("checkbox")).to_have_count(0)

    network.select_option("allow-list")
    group.get_by_role("checkbox", name="Python packages (PyPI)").check()
    hosts = group.get_by_role("textbox", name="Other allowed hosts")
    hosts.fill("example.org\n10.0.0.1")
    group.get_by_text("Mirrors and certificates").click()
    group.get_by_role("textbox", name="Registry for npm").fill("https://mirror.test/npm")
    form.get_by_role("button", name="Save").click()
    expect(group.get_by_role("alert")).to_contain_text("'10.0.0.1' is not the name of a host")
    expect(hosts).to_be_focused()
    expect(hosts).to_have_attribute("aria-invalid", "true")
    assert panel.root.evaluate(OVERFLOWING) == []
    panel.page.screenshot(path=_results() / "network-settings-narrow.png")
    assert lab.call("GET", "settings")["settings"]["network"]["value"] == "off"

    hosts.fill("example.org, *.example.org:8080")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("status")).to_have_text("Saved")
    expect(hosts).to_have_value("example.org\n*.example.org:8080")
    kept = lab.call("GET", "settings")["settings"]
    assert kept["network"]["value"] == "allow-list"
    presets = kept["network_presets"]
    assert (presets["value"], presets["origin"]) == (["python"], "panel")
    assert kept["network_rules"]["value"] == ["example.org", "*.example.org:8080"]
    assert kept["npm_registry"]["value"] == "https://mirror.test/npm"


def _results() -> Path:
    folder = Path("test-results")
    folder.mkdir(exist_ok=True)
    return folder
