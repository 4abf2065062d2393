"""A run that goes on while pages come and go."""

from __future__ import annotations

import re
from collections.abc import Callable

from model_server import ModelServer, call
from playwright.sync_api import Page, WebSocketRoute, expect
from ui.lab_server import LabServer
from ui.panel import Panel

TICKS = "for i in 1 2 3 4 5 6 7 8 9; do echo tick-$i; sleep 1; done"


def test_reload_and_second_tab_in_the_middle_of_a_run(
    panel: Panel, open_page: Callable[..., Page], lab: LabServer, model: ModelServer
) -> None:
    model.play(
        call("execute_bash", command=TICKS),
        call("finish", message="It has ticked."),
    )
    panel.send("Tick")
    running = panel.action("Run a command")
    expect(running).to_contain_text("Running…")
    expect(running).to_contain_text("tick-1")
    expect(running).not_to_contain_text("tick-9")

    panel.reload()
    expect(running).to_contain_text("tick-1")
    other = Panel(open_page("other"))
    other.open()
    other.pick_session("Tick")
    for tab in (panel, other):
        tab.expect_state("Finished")
        expect(tab.action("Run a command")).to_contain_text("Exit code 0")
        expect(tab.action("Run a command").get_by_text("tick-9")).to_have_count(1)
    rows = panel.rows()
    assert other.rows() == rows
    assert len(rows) == len(set(rows)), rows
    [output] = [
        e for e in lab.events(lab.sessions()[0]["id"]) if e["type"] == "CmdOutputObservation"
    ]
    assert output["content"].split() == [f"tick-{i}" for i in range(1, 10)]


def test_queue_a_message_stop_by_keyboard_and_go_on(
    panel: Panel, lab: LabServer, model: ModelServer
) -> None:
    model.play(
        call("execute_bash", command="echo begun; sleep 600"),
        call("finish", message="Both are done."),
    )
    panel.send("Begin")
    expect(panel.action("Run a command")).to_contain_text("begun")
    panel.send("And this too")
    expect(panel.log).to_contain_text("Queued")

    panel.composer.press("Shift+Tab")
    stop = panel.root.get_by_role("button", name="Stop")
    for _ in range(5):
        if stop.evaluate("button => button === document.activeElement"):
            break
        panel.page.keyboard.press("Tab")
    expect(stop).to_be_focused()
    panel.page.keyboard.press("Enter")
    expect(stop).to_have_count(0)
    expect(panel.action("Run a command")).to_contain_text("Stopped")
    panel.expect_state("Stopped")
    expect(panel.log).not_to_contain_text("Queued")

    panel.send("Go on")
    expect(panel.log.get_by_role("article", name="Result")).to_contain_text("Both are done.")


def test_events_that_come_while_the_connection_is_broken_are_not_lost(
    open_page: Callable[..., Page], lab: LabServer, model: ModelServer
) -> None:
    model.play(
        call("execute_bash", command="until [ -e go ]; do sleep 0.1; done; echo late"),
        call("finish", message="Done meanwhile."),
    )
    broken = False
    sockets: list[WebSocketRoute] = []

    def connect(socket: WebSocketRoute) -> None:
        if broken:
            socket.close(code=3000)
        else:
            socket.connect_to_server()
            sockets.append(socket)

    page = open_page()
    page.route_web_socket(re.compile("/openhands/api/"), connect)
    page.reload()
    panel = Panel(page)
    panel.open()
    panel.send("Be slow")
    expect(panel.action("Run a command")).to_contain_text("Running…")
    broken = True
    for socket in sockets:
        socket.close(code=3000)
    offline = panel.status.get_by_role("button", name="Offline")
    expect(offline).to_be_visible()
    # What the agent does is one thing, whether the page hears of it another.
    panel.expect_state("Working")
    (lab.root / "go").touch()
    while lab.sessions()[0]["state"] != "finished":
        page.wait_for_timeout(50)
    expect(panel.action("Run a command")).to_contain_text("Running…")

    broken = False
    expect(panel.action("Run a command")).to_contain_text("Exit code 0", timeout=30_000)
    expect(panel.log.get_by_role("article", name="Result")).to_have_count(1)
    expect(offline).to_have_count(0)
    panel.expect_state("Finished")
    rows = panel.rows()
    assert len(rows) == len(set(rows)), rows


def test_limits_and_a_loop_have_ways_on(panel: Panel, model: ModelServer) -> None:
    look = call("execute_bash", command="date +%N")
    model.play(
        *[look] * 8,
        call("ask_user", question="Which clock?", options=["The sun", "Any"]),
        call("finish", message="Enough."),
    )
    panel.send("Look at the clock")
    card = panel.root.get_by_role("region", name="The agent got stuck")
    expect(card).to_contain_text("The same action had the same result 4 times.")
    expect(panel.log).to_contain_text("The agent was told, and tries another way.")
    expect(card.get_by_role("button", name="Go back to before the loop…")).to_be_visible()

    panel.root.get_by_role("button", name="Step 8/100").click()
    form = panel.root.get_by_role("dialog", name="Limits")
    form.get_by_label("Steps").fill("8")
    form.get_by_role("button", name="Save").click()
    expect(panel.log).to_contain_text("Steps: at most 8.")
    panel.root.get_by_role("button", name="Run 50 more steps").click()
    panel.expect_state("Waiting for your answer")
    expect(card).to_have_count(0)

    # The answers to choose from are there after a reload too, and are given by keyboard.
    panel.reload()
    said = panel.root.get_by_role("status").filter(has_text="The agent asks: Which clock?")
    expect(said).to_be_attached()
    panel.root.get_by_role("button", name="The sun").press("Enter")
    expect(panel.composer).to_be_focused()
    # Its call, as it is being written, has the word too.
    expect(panel.root.get_by_text("Enough.", exact=True)).to_be_visible()
    expect(panel.log.get_by_role("article", name="You").last).to_have_text("The sun")
