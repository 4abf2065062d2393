"""Sessions come and go; settings are shown with their origin, changed and reset."""

from __future__ import annotations

import json
import re

from playwright.sync_api import Locator, expect
from ui.lab_server import LabServer
from ui.panel import Panel

KEY = "sk-a-key-that-must-stay-secret"


def test_new_rename_delete(
    tour: None, panel: Panel, lab: LabServer, expected_errors: list[str]
) -> None:
    panel.root.get_by_role("button", name="Write a Python script").click()
    panel.expect_state("Finished")
    panel.new_session()
    panel.send("Hello")
    panel.expect_state("Waiting for your answer")

    sessions = panel.list_sessions()
    expect(sessions.get_by_role("listitem")).to_have_count(2)
    expect(sessions.get_by_role("listitem").first).to_contain_text("Hello")
    sessions.get_by_role("button", name="Rename “Hello”").click()
    dialog = panel.page.locator(".jp-Dialog")
    dialog.get_by_role("textbox").fill("A better name")
    dialog.get_by_role("button", name="Rename").click()
    expect(panel.root.locator(".jp-OpenHands-header")).to_contain_text("A better name")
    assert lab.sessions()[0]["title"] == "A better name"

    sessions = panel.list_sessions()
    sessions.get_by_role("button", name="Delete “A better name”").click()
    dialog.get_by_role("button", name="Cancel").click()
    assert len(lab.sessions()) == 2
    panel.list_sessions().get_by_role("button", name="Delete “A better name”").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(panel.root.get_by_role("heading", name="What shall be done?")).to_be_visible()
    sessions = panel.list_sessions()
    expect(sessions.get_by_role("listitem")).to_have_count(1)
    panel.page.keyboard.press("Escape")
    expect(sessions).to_have_count(0)

    [left] = lab.sessions()
    panel.pick_session(left["title"])
    expect(panel.action("Write fib.py")).to_be_visible()
    # Somebody else deletes what is open here.
    expected_errors.append("404 (Not Found)")
    lab.call("DELETE", f"sessions/{left['id']}")
    expect(panel.root.get_by_role("alert")).to_be_visible()
    expect(panel.root.get_by_role("heading", name="What shall be done?")).to_be_visible()


def test_settings(panel: Panel, lab: LabServer, expected_errors: list[str]) -> None:
    expected_errors += ["422 (Unprocessable Entity)", "409 (Conflict)"]
    write_mcp_server(lab, "<b>first</b>")
    panel.root.get_by_role("button", name="Settings").click()
    form = panel.root.get_by_role("form", name="Settings")
    expect(form.get_by_label("Model", exact=True)).to_have_value("openai/scripted")
    expect(field(form, "Model")).to_contain_text("From the environment (LLM_MODEL)")
    wrong = form.get_by_role("region", name="Written down, but not in force")
    expect(wrong).to_contain_text("config.toml, line 2: core.max_iteration is left out")
    expect(wrong).to_contain_text("did you mean max_iterations?")
    expect(field(form, "API key")).to_contain_text("OPENAI_API_KEY")
    expect(field(form, "Mode of new sessions")).to_contain_text("Default")

    form.get_by_label("Model", exact=True).fill("tour")
    expect(form).to_contain_text("Guided tour (no AI)")
    form.get_by_role("textbox", name="API key").fill(KEY)
    form.get_by_label("Mode of new sessions").select_option("Ask")
    form.get_by_label("Isolation of new sessions").select_option("None")
    form.get_by_label("Images are shown to the model").select_option("Always")
    expect(form.get_by_role("alert")).to_contain_text("Without a sandbox")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("status")).to_have_text("Saved")
    expect(field(form, "Model")).to_contain_text("Set here")
    expect(panel.status).to_contain_text("Guided tour (no AI)")
    expect(form.get_by_role("textbox", name="API key")).to_have_value("")
    settings = lab.call("GET", "settings")
    values = {name: setting["value"] for name, setting in settings["settings"].items()}
    assert (values["model"], values["mode"], values["isolation"]) == ("tour", "ask", "none")
    assert values["vision"] == "on"
    assert KEY not in json.dumps(settings)
    secrets = {secret["name"]: secret["origin"] for secret in settings["secrets"]}
    assert secrets["LLM_API_KEY"] == "panel"
    assert KEY not in panel.page.content()

    form.get_by_label("Address of the model server").fill("not an address")
    form.get_by_role("button", name="Save").click()
    expect(form).to_contain_text("base_url")
    form.get_by_label("Address of the model server").fill("")
    images = "Images are shown to the model"
    for label in ("Model", images, "Mode of new sessions", "Isolation of new sessions"):
        form.get_by_role("button", name=f"Reset {label}").click()
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("status")).to_have_text("Saved")
    expect(field(form, "Model")).to_contain_text("From the environment")
    expect(form.get_by_label("Model", exact=True)).to_have_value("openai/scripted")

    form.get_by_role("button", name="Remove API key").click()
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("button", name="Remove API key")).to_have_count(0)
    names = [secret["name"] for secret in lab.call("GET", "settings")["secrets"]]
    assert names == ["OPENAI_API_KEY"]

    # A server that the workspace names is allowed as it was shown.
    form.get_by_role("button", name="Allow theirs…").click()
    dialog = panel.page.get_by_role("dialog", name="Allow this MCP server?")
    expect(dialog).to_contain_text("<b>first</b>")
    write_mcp_server(lab, "second")
    dialog.get_by_role("button", name="Allow", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("It was changed")
    expect(dialog).to_contain_text("second")
    dialog.get_by_role("button", name="Allow", exact=True).click()
    back = form.get_by_role("button", name="Take back that theirs is allowed")
    expect(back).to_be_focused()
    assert [one["consent"] for one in lab.call("GET", "mcp")["servers"]] == [True]
    back.click()
    expect(form.get_by_role("button", name="Allow theirs…")).to_be_focused()

    form.get_by_role("button", name="Close").click()
    expect(panel.composer).to_be_visible()


def test_a_remote_server_is_set_with_its_token(panel: Panel, lab: LabServer) -> None:
    panel.root.get_by_role("button", name="Settings").click()
    form = panel.root.get_by_role("form", name="Settings")
    expect(form.get_by_label("Address of the remote server")).to_have_count(0)
    form.get_by_label("Isolation of new sessions").select_option("gateway")
    expect(form).to_contain_text("works on the files of the remote server")
    form.get_by_label("Address of the remote server").fill("https://gateway.invalid/base")
    form.get_by_label("Folder there").fill("~/work")
    form.get_by_label("Token of the remote server").fill(KEY)
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("status")).to_have_text("Saved")
    settings = lab.call("GET", "settings")
    values = {name: setting["value"] for name, setting in settings["settings"].items()}
    assert values["isolation"] == "gateway"
    assert values["gateway_url"] == "https://gateway.invalid/base"
    assert (values["gateway_kernel"], values["gateway_folder"]) == (None, "~/work")
    known = {secret["name"]: secret["origin"] for secret in settings["secrets"]}
    assert known["JUPYTER_GATEWAY_AUTH_TOKEN"] == "panel"
    assert KEY not in json.dumps(settings) + panel.page.content()
    health = lab.call("GET", "health")
    assert health["status"] == "degraded"
    assert "gateway.invalid" in health["sandbox"]["notice"]

    form.get_by_role("button", name="Remove Token of the remote server").click()
    for label in ("Address of the remote server", "Folder there", "Isolation of new sessions"):
        form.get_by_role("button", name=f"Reset {label}").click()
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("status")).to_have_text("Saved")
    values = lab.call("GET", "settings")["settings"]
    assert (values["isolation"]["value"], values["gateway_url"]["value"]) == ("auto", None)


def test_the_mode_is_chosen_and_auto_has_to_be_confirmed(
    tour: None, panel: Panel, lab: LabServer
) -> None:
    panel.send("Hello")
    mode = panel.root.get_by_role("button", name="Mode:")
    confirm = panel.page.locator(".jp-Dialog").filter(has_text="Switch to Auto?")

    mode.click()
    panel.root.get_by_role("radio", name=re.compile("^Auto")).click()
    confirm.get_by_role("button", name="Cancel").click()
    expect(mode).to_contain_text("Agent")
    confirmed = False
    for name in ("Ask", "Auto", "Agent", "Auto"):
        mode.press("Enter")
        panel.root.get_by_role("radio", name=re.compile(f"^{name}")).press("Enter")
        if name == "Auto" and not confirmed:
            confirm.get_by_role("button", name="Switch to Auto").click()
            confirmed = True
        expect(mode).to_contain_text(name)
    assert lab.sessions()[0]["mode"] == "auto"
    expect(panel.log).to_contain_text("Mode: Auto")


def field(form: Locator, label: str) -> Locator:
    """The field with a label, and what is said about it."""
    return form.locator(".jp-OpenHands-field").filter(has=form.page.get_by_text(label, exact=True))


def write_mcp_server(lab: LabServer, argument: str) -> None:
    """Have the workspace name an MCP server that is started with this."""
    server = {"command": "/no/such/server", "args": [argument]}
    (lab.root / ".mcp.json").write_text(json.dumps({"mcpServers": {"theirs": server}}))
