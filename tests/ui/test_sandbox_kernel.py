"""A notebook on the kernelspec 'OpenHands sandbox'."""

from __future__ import annotations

from collections.abc import Callable

from model_server import ModelServer, call
from playwright.sync_api import Locator, Page, expect
from ui.lab_server import LabServer
from ui.panel import Panel

LOOK = "import os; print('shadow', os.path.exists('/etc/shadow'), os.getcwd())"


def test_a_notebook_can_be_put_into_a_sandbox(
    open_page: Callable[..., Page], lab: LabServer
) -> None:
    page = open_page()
    page.locator(".jp-LauncherCard[data-category='Notebook'][title^='OpenHands sandbox']").click()
    expect(page.get_by_role("button", name="OpenHands sandbox | Idle")).to_be_visible(
        timeout=60_000
    )
    cell = page.locator(".jp-Notebook .jp-CodeCell").first
    cell.locator(".cm-content").click()
    page.keyboard.insert_text(LOOK)
    page.keyboard.press("Shift+Enter")
    expect(cell.locator(".jp-OutputArea-output").first).to_have_text(
        f"shadow False {lab.root}", timeout=60_000
    )


def test_a_console_looks_into_the_agents_kernel(
    panel: Panel, lab: LabServer, model: ModelServer, expected_errors: list[str]
) -> None:
    expected_errors.append("404 (Not Found)")
    model.play(
        call("run_code", code="answer = 6 * 7"),
        call("finish", message="Done."),
    )
    panel.send("Compute it")
    panel.expect_state("Finished")
    page = panel.page
    sessions = panel.list_sessions()
    sessions.get_by_role("button", name="Open a console on the kernel of “Compute it”").click()
    console = page.locator(".jp-ConsolePanel:visible")
    expect(console).to_be_visible()

    def run(code: str) -> Locator:
        prompt = console.locator(".jp-CodeConsole-promptCell .cm-content")
        prompt.click()
        page.keyboard.insert_text(code)
        page.keyboard.press("Shift+Enter")
        return console.locator(".jp-CodeConsole-content .jp-OutputArea-output").last

    expect(page.get_by_role("button", name="OpenHands sandbox | Idle")).to_be_visible()
    expect(run("print('it is', answer)")).to_have_text("it is 42")
    # What the agent's kernel shows is not to run in the person's page.
    script = "<img src=x onerror='window.caught = 1'><script>window.caught = 1</script>shown"
    expect(run(f"from IPython.display import HTML; HTML({script!r})")).to_have_text("shown")
    page.wait_for_timeout(1000)
    assert page.evaluate("window.caught") is None
    [session] = lab.sessions()
    assert "it is" not in str(lab.events(session["id"]))

    page.get_by_role("tab", name="Running Terminals and Kernels").click()
    running = page.locator("#jp-running-sessions")
    expect(running).to_contain_text("OpenHands: Compute it")
