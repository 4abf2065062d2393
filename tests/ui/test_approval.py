"""The delete task of the guided tour: every step on the way to a decision, and after it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Route, expect
from ui.lab_server import LabServer
from ui.panel import Panel

TASK = "Delete the temporary files here"


@pytest.fixture(autouse=True)
def temporary_files(lab: LabServer, tour: None) -> None:
    """Put files there that the tour wants to delete, and one that it does not."""
    for name in ("one.tmp", "two.tmp", "kept.txt"):
        (lab.root / name).write_text("x")


def names(lab: LabServer) -> set[str]:
    return {path.name for path in lab.root.iterdir()}


def deleting(panel: Panel) -> Locator:
    """The row of the command that deletes."""
    return panel.action("Run a command").filter(has_text="rm -- one.tmp two.tmp")


def test_reject_with_a_reason_then_approve_after_a_reload(panel: Panel, lab: LabServer) -> None:
    panel.send(TASK)
    expect(panel.card).to_contain_text("Run a command")
    expect(panel.card).to_contain_text("High risk")
    expect(panel.card).to_contain_text("Deletes files")
    expect(panel.card).to_contain_text("rm -- one.tmp two.tmp")
    panel.expect_state("Waiting for your approval")

    panel.card.get_by_role("button", name="Reject").click()
    panel.page.keyboard.type("I need them")
    panel.page.keyboard.press("Enter")
    expect(panel.card).to_have_count(0)
    expect(panel.composer).to_be_focused()
    expect(deleting(panel)).to_contain_text("Rejected, not executed")
    expect(deleting(panel)).to_contain_text("I need them")
    panel.expect_state("Finished")
    assert names(lab) == {"one.tmp", "two.tmp", "kept.txt"}

    panel.new_session()
    panel.send(TASK)
    expect(panel.card).to_be_visible()
    panel.reload()
    expect(panel.card).to_contain_text("rm -- one.tmp two.tmp")
    panel.card.get_by_role("button", name="Approve").click()
    expect(panel.card).to_have_count(0)
    expect(deleting(panel)).to_contain_text("Approved by you · Exit code 0")
    panel.expect_state("Finished")
    assert names(lab) == {"kept.txt"}

    approved, rejected_session = lab.sessions()
    for session, decision in ((approved, "approve"), (rejected_session, "reject")):
        decisions = [e for e in lab.events(session["id"]) if e["type"] == "ConfirmationAction"]
        assert [event["decision"] for event in decisions] == [decision]


def test_two_tabs_show_the_same_and_one_decision_counts(
    panel: Panel, open_page: Callable[..., Page], expected_errors: list[str], lab: LabServer
) -> None:
    expected_errors.append("409 (Conflict)")
    panel.send(TASK)
    expect(panel.card).to_be_visible()
    other = Panel(open_page("other"))
    other.open()
    other.pick_session(TASK)
    expect(other.card).to_contain_text("rm -- one.tmp two.tmp")

    # The first tab decides while the second tab's answer is on its way.
    def decide_first(route: Route) -> None:
        panel.card.get_by_role("button", name="Approve").click()
        expect(panel.card).to_have_count(0)
        route.continue_()

    session = lab.sessions()[0]
    other.page.route("**/confirmations/*", decide_first)
    other.card.get_by_role("button", name="Reject").click()
    other.card.get_by_role("button", name="Reject").click()
    expect(other.root.get_by_role("alert")).to_be_visible()
    expect(other.card).to_have_count(0)
    for tab in (panel, other):
        tab.expect_state("Finished")
        expect(deleting(tab)).to_contain_text("Approved by you · Exit code 0")
    assert other.rows() == panel.rows()
    assert names(lab) == {"kept.txt"}
    decisions = [e for e in lab.events(session["id"]) if e["type"] == "ConfirmationAction"]
    assert len(decisions) == 1


def test_a_message_instead_of_a_decision_rejects(panel: Panel, lab: LabServer) -> None:
    panel.send(TASK)
    expect(panel.card).to_be_visible()
    panel.send("Only look, please")
    expect(panel.card).to_have_count(0)
    expect(panel.log).to_contain_text("Rejected, not executed")
    assert names(lab) == {"one.tmp", "two.tmp", "kept.txt"}

    # Who does not see the panel is told, and one click leads to the question.
    panel.new_session()
    panel.send(TASK)
    panel.page.get_by_role("tab", name="OpenHands").click()
    expect(panel.root).not_to_be_visible()
    toast = panel.page.locator(".Toastify__toast").filter(has_text="asks for approval")
    toast.get_by_role("button", name="Show").click()
    expect(panel.card).to_be_focused()
