"""The Python, the limits, the packages and the secrets of sandboxes, in the panel."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from model_server import ModelServer, call
from playwright.sync_api import Locator, expect
from ui.lab_server import LabServer
from ui.panel import Panel
from ui.test_looks import OVERFLOWING

CHOSEN = [
    "python",
    "requirements",
    "memory_limit",
    "process_limit",
    "cpu_limit",
    "disk_limit",
    "prewarm",
    "idle_timeout",
]
SECRET = "canary-5e4d3c2b1a"
DONE = call("finish", message="Done.")
LOOK = call("execute_bash", command="echo ${#DATABASE_PASSWORD} $DATABASE_PASSWORD")


@pytest.fixture(autouse=True)
def as_before(lab: LabServer) -> None:
    lab.call("PUT", "settings", dict.fromkeys(CHOSEN))


def settings(panel: Panel) -> Locator:
    panel.root.get_by_role("button", name="Settings").click()
    return panel.root.get_by_role("form", name="Settings")


@pytest.mark.parametrize("width", [320, 480])
def test_a_python_is_chosen_and_tried_and_limits_are_set(
    panel: Panel, lab: LabServer, expected_errors: list[str], width: int
) -> None:
    expected_errors.append("422")
    panel.set_width(width)
    form = settings(panel)
    group = form.get_by_role("region", name="Environment")
    python = group.get_by_label("Python of new sessions")
    expect(python).to_have_value("")
    expect(group).to_contain_text("Python 3.")
    python.fill("/nowhere/bin/python")
    limits = form.get_by_role("region", name="Limits of new sandboxes")
    limits.get_by_label("Memory (GB)").fill("2.5")
    limits.get_by_label("Processes").fill("300")
    life = form.get_by_role("region", name="Start and end of sandboxes")
    idle = life.get_by_label("Minutes without use until a sandbox ends")
    expect(idle).to_have_value("240")
    expect(idle).to_have_accessible_description(re.compile("0 for never"))
    idle.fill("30")
    life.get_by_label("Sandboxes that stand ready").fill("0")
    form.get_by_role("button", name="Save").click()
    expect(group.get_by_role("alert")).to_contain_text("There is no Python at /nowhere/bin/python")
    expect(python).to_be_focused()
    assert panel.root.evaluate(OVERFLOWING) == []
    group.scroll_into_view_if_needed()
    panel.page.screenshot(path=_results() / f"environment-settings-{width}.png")

    python.fill("python3")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("status")).to_have_text("Saved", timeout=30_000)
    kept = lab.call("GET", "settings")["settings"]
    values = [kept[name]["value"] for name in CHOSEN]
    assert values == ["python3", None, 2.5, 300, None, 10.0, 0, 30.0]
    group.get_by_role("button", name="Reset Python of new sessions").click()
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("status")).to_have_text("Saved")
    assert lab.call("GET", "settings")["settings"]["python"]["value"] is None


def test_a_requirements_file_is_installed_only_when_asked(panel: Panel, lab: LabServer) -> None:
    (lab.root / "needed.txt").write_text("# nothing yet\n")
    panel.set_width(320)
    form = settings(panel)
    group = form.get_by_role("region", name="Environment")
    group.get_by_label("Requirements file (optional)").fill("needed.txt")
    expect(group.get_by_role("button", name="Install the packages")).to_have_count(0)
    form.get_by_role("button", name="Save").click()
    expect(group).to_contain_text("Not installed yet.")
    group.get_by_role("button", name="Install the packages").click()
    expect(group).to_contain_text("Installed: new sandboxes have these packages.", timeout=60_000)
    assert panel.root.evaluate(OVERFLOWING) == []


def test_a_secret_is_kept_then_allowed_and_packages_are_shown(
    panel: Panel, lab: LabServer, model: ModelServer, expected_errors: list[str]
) -> None:
    expected_errors.append("422")
    old = f"OLD_{'TOKEN_' * 10}"
    lab.call("PUT", f"secrets/{old}", {"value": "short"})
    lab.call("PUT", "settings", {"mode": "auto"})
    panel.set_width(320)
    model.play(LOOK, DONE)
    panel.send("Look")
    panel.expect_state("Finished")

    form = settings(panel)
    group = form.get_by_role("region", name="Secrets")
    expect(group).to_contain_text("code: shorter than 6 characters")
    assert form.evaluate("form => form.scrollWidth <= form.clientWidth")
    name = group.get_by_label("Name of a new secret")
    value = group.get_by_label("Value of the new secret")
    name.fill("database password")
    value.fill(SECRET)
    value.press("Enter")
    expect(group.get_by_role("alert")).to_contain_text("name is made of capital letters")
    expect(name).to_be_focused()
    name.fill("DATABASE_PASSWORD")
    value.fill("")
    group.get_by_role("button", name=f"Remove {old}").click()
    form.get_by_role("button", name="Save").click()
    expect(group.get_by_role("alert")).to_contain_text("DATABASE_PASSWORD has no value")
    expect(value).to_be_focused()
    # What came before it is done.
    expect(group.get_by_label(old)).to_have_count(0)
    assert panel.root.evaluate(OVERFLOWING) == []
    group.scroll_into_view_if_needed()
    panel.page.screenshot(path=_results() / "secrets-narrow.png")
    value.fill(SECRET)
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("status")).to_have_text("Saved")
    for field in (name, value, group.get_by_label("DATABASE_PASSWORD", exact=True)):
        expect(field).to_have_value("")
    assert SECRET not in panel.page.content()
    form.get_by_role("button", name="Close").click()

    panel.status.get_by_role("button", name="solated").click()
    details = panel.status.get_by_role("dialog", name="Isolation")
    expect(details).to_contain_text("Python 3.")
    expect(details).to_contain_text("Installed by the agent:")
    expect(details.get_by_role("checkbox")).to_have_count(1)
    secret = details.get_by_role("checkbox", name="DATABASE_PASSWORD")
    expect(secret).not_to_be_checked()
    secret.click()
    expect(secret).to_be_checked()
    assert panel.root.evaluate(OVERFLOWING) == []
    details.get_by_role("group").scroll_into_view_if_needed()
    panel.page.screenshot(path=_results() / "environment-details-narrow.png")
    panel.page.keyboard.press("Escape")

    model.play(LOOK, DONE)
    panel.send("Look again")
    expect(panel.log).to_contain_text(f"{len(SECRET)} <secret_hidden>")
    panel.expect_state("Finished")
    assert SECRET not in panel.page.content()
    [session] = lab.sessions()
    assert session["secrets"] == ["DATABASE_PASSWORD"]


def _results() -> Path:
    folder = Path("test-results")
    folder.mkdir(exist_ok=True)
    return folder
