"""The example: a script is written and run, on a scripted model through the real LiteLLM."""

from __future__ import annotations

from model_server import ModelServer, call
from playwright.sync_api import expect
from ui.lab_server import LabServer
from ui.panel import Panel

TASK = "Write a Python script that computes Fibonacci numbers and run it"
SCRIPT = "a, b = 0, 1\nfor _ in range(10):\n    print(a, end=' ')\n    a, b = b, a + b\n"


def test_the_example_runs_is_kept_and_is_shown_again(
    panel: Panel, lab: LabServer, model: ModelServer
) -> None:
    model.play(
        call("write_file", path="fib.py", content=SCRIPT)
        .saying("I write the script first, and then I look at what it prints.")
        .paced(0.15, piece=8),
        call("execute_bash", command="python fib.py"),
        call("finish", message="The numbers are **0 1 1 2 3 5 8 13 21 34**."),
    )
    expect(panel.status).to_contain_text("scripted")
    panel.send(TASK)

    # The model's text is there while it is being written.
    expect(panel.log.get_by_role("article", name="Agent")).to_contain_text("I write")
    expect(panel.action("Write fib.py")).to_contain_text("Created")
    expect(panel.action("Run a command")).to_contain_text("Exit code 0")
    expect(panel.action("Run a command")).to_contain_text("0 1 1 2 3 5 8 13 21 34")
    result = panel.log.get_by_role("article", name="Result")
    expect(result.locator("strong")).to_have_text("0 1 1 2 3 5 8 13 21 34")
    panel.expect_state("Finished")
    expect(panel.status).to_contain_text("isolated", ignore_case=True)
    # What was live is gone: the event has taken its place.
    expect(panel.log.get_by_role("article", name="Agent")).to_have_count(0)

    assert (lab.root / "fib.py").read_text() == SCRIPT
    _check_log(lab)
    assert model.requests[0].headers["authorization"] == "Bearer key-of-the-environment"

    panel.action("Write fib.py").get_by_role("button", name="fib.py").click()
    expect(panel.page.get_by_role("tab", name="fib.py")).to_be_visible()

    rows = panel.rows()
    panel.composer.fill("not sent yet")
    panel.page.wait_for_timeout(1500)
    panel.page.goto(panel.page.url.replace("reset", ""))
    expect(panel.composer).to_have_value("not sent yet", timeout=60_000)
    expect(panel.log.get_by_role("article", name="Result")).to_be_visible()
    assert panel.rows() == rows


def _check_log(lab: LabServer) -> None:
    [session] = lab.sessions()
    events = lab.events(session["id"])
    assert [event["id"] for event in events] == list(range(len(events)))
    assert all(event["time"] and event["session"] == session["id"] for event in events)
    wanted = [
        "UserMessageAction",
        "FileWriteAction",
        "FileWriteObservation",
        "CmdRunAction",
        "CmdOutputObservation",
        "FinishAction",
    ]
    steps = [event for event in events if event["type"] in wanted]
    assert [event["type"] for event in steps] == wanted
    _, write, written, run, output, _ = steps
    assert (written["cause"], output["cause"]) == (write["id"], run["id"])
    assert output["exit_code"] == 0
    assert "0 1 1 2 3 5 8 13 21 34" in output["content"]
