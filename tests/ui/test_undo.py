"""Undo and rewind by clicking."""

from __future__ import annotations

import pytest
from model_server import ModelServer, call
from playwright.sync_api import expect
from ui.lab_server import LabServer
from ui.panel import Panel

FINISH = call("finish", message="All is done.")


@pytest.fixture
def changed(lab: LabServer, panel: Panel, model: ModelServer) -> None:
    """A turn changed three files, and the person one of them since."""
    (lab.root / "notes.txt").write_text("first\nsecond\n")
    (lab.root / "mine.txt").write_text("old\n")
    model.play(
        call("run_code", code="x = 1"),
        call("write_file", path="notes.txt", content="first\nchanged <b>bold</b>\n"),
        call("execute_bash", command="echo agent > mine.txt; echo new > new.txt"),
        FINISH,
    )
    panel.send("Change something")
    expect(panel.log.get_by_role("article", name="3 files changed")).to_be_visible()
    (lab.root / "mine.txt").write_text("mine\n")


def test_a_turn_is_undone_by_clicking(lab: LabServer, panel: Panel, changed: None) -> None:
    end = panel.log.get_by_role("article", name="3 files changed")
    end.get_by_text("Show changes").click()
    end.get_by_text("notes.txt").click()
    expect(end.get_by_role("textbox", name="Changes of notes.txt")).to_contain_text(
        "changed <b>bold</b>"
    )
    end.get_by_role("button", name="Undo").click()
    dialog = panel.page.get_by_role("dialog")
    expect(dialog.get_by_role("list", name="Files")).to_contain_text("new.txt")
    tick = dialog.get_by_role("checkbox", name="mine.txt (is changed back)")
    expect(tick).not_to_be_checked()
    dialog.get_by_role("button", name="Undo").click()

    row = panel.log.get_by_role("article", name="Undo of changes")
    expect(row).to_contain_text("2 files are as they were before.")
    expect(row).to_contain_text("1 file was left as it is")
    expect(end).to_contain_text("Undone")
    assert (lab.root / "notes.txt").read_text() == "first\nsecond\n"
    assert (lab.root / "mine.txt").read_text() == "mine\n"
    assert not (lab.root / "new.txt").exists()

    # With the keyboard alone: the undo is taken back.
    row.get_by_role("button", name="Take back").focus()
    panel.page.keyboard.press("Enter")
    # The dialog takes the focus a moment after it is seen.
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    panel.page.keyboard.press("Tab")
    dialog.get_by_role("button", name="Undo").focus()
    panel.page.keyboard.press("Enter")
    expect(row.first).to_contain_text("Undone")
    expect(end.get_by_role("button", name="Undo")).to_be_visible()
    assert (lab.root / "new.txt").read_text() == "new\n"


def test_a_rewind_by_the_menu_of_a_step(lab: LabServer, panel: Panel, changed: None) -> None:
    panel.set_width(320)
    step = panel.action("Write notes.txt")
    step.get_by_role("button", name="More for event").click()
    panel.page.get_by_role("menuitem", name="Rewind to here").click()
    dialog = panel.page.get_by_role("dialog")
    expect(dialog).to_contain_text("the kernel and the shell start anew")
    dialog.get_by_role("checkbox", name="mine.txt").check()
    dialog.get_by_role("checkbox", name="Run 1 earlier cell again").check()
    dialog.get_by_role("button", name="Rewind").click()
    row = panel.log.get_by_role("article", name="Rewind to before event")
    expect(row).to_contain_text("1 of 1 cells ran again.")
    panel.expect_state("Ready for a message")
    files = {path.name: path.read_text() for path in lab.root.iterdir() if path.is_file()}
    assert files == {"notes.txt": "first\nsecond\n", "mine.txt": "old\n"}
