"""Agents in real sessions: one's own, another in the middle of a session."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from model_server.script import call, text, together
from session_tools import events, until

from openhands_jupyter.agents.readonly import READING
from openhands_jupyter.agents.swe import UNTESTED
from openhands_jupyter.errors import Invalid
from openhands_jupyter.events import (
    AgentDelegateAction,
    AgentDelegateObservation,
    AgentMessageAction,
    ChangeSettingsAction,
    CmdRunAction,
    ErrorObservation,
    FinishAction,
    InvalidToolCallAction,
    ModelUsageObservation,
    PlanHandOverAction,
    PlanHandOverObservation,
    SystemMessageAction,
)

DOCS = Path(__file__).resolve().parents[3] / "docs" / "agents.md"


def tools_of(request) -> set[str]:
    return {tool["function"]["name"] for tool in request.body["tools"]}


async def test_the_agent_of_the_page_works(manager, model_server, workspace, tmp_path, monkeypatch):
    """The custom agent in docs/agents.md, as it stands there."""
    code, derived = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)
    assert len([line for line in code.split("\n") if line.startswith(" ")]) <= 15
    (tmp_path / "agents_of_the_page.py").write_text(code + derived)
    monkeypatch.syspath_prepend(tmp_path)
    (workspace / "a.md").write_text("one two three")
    model_server.play(text("Three words, in one file."), call("finish", message="1.0 ± 0.1"))
    async with manager(agent="agents_of_the_page:WordCounter") as sessions:
        session = await sessions.create()
        session.send_message("Count")
        await until(session, "finished")
        assert session.info().agent == "agents_of_the_page:WordCounter"
        assert [e.command for e in events(session, CmdRunAction)] == ["wc -w *.md"]
        assert events(session, FinishAction)[0].message == "Three words, in one file."
        assert len(events(session, ModelUsageObservation)) == 1
        asked = model_server.requests[0].body["messages"]
        assert "3 a.md" in asked[0]["content"]
        session.change_settings(agent="agents_of_the_page:Statistician")
        again = session.send_message("Estimate")
        await until(session, "finished", after=again)
    prompt = model_server.requests[1].body["messages"][0]["content"]
    assert prompt.endswith("State an interval with every estimate.")


async def test_another_agent_goes_on_with_what_happened(manager, model_server, workspace):
    model_server.play(
        call("write_file", path="a.txt", content="seven"),
        call("finish", message="Written."),
        call("write_file", path="a.txt", content="eight"),
        call("finish", message="It says seven."),
    )
    async with manager() as sessions:
        session = await sessions.create()
        session.send_message("Write seven")
        await until(session, "finished")
        session.change_settings(agent="readonly")
        asked = session.send_message("What does it say? Then change it.")
        await until(session, "finished", after=asked)
        introduced = events(session, SystemMessageAction)
        assert [event.agent for event in introduced] == ["codeact", "readonly"]
        names = sorted(tool.name for tool in READING)
        assert sorted(introduced[1].tools) == names
        assert [e.agent for e in events(session, ChangeSettingsAction)] == ["codeact", "readonly"]
        (wrong,) = events(session, InvalidToolCallAction)
        assert "no tool 'write_file'" in wrong.message
    assert (workspace / "a.txt").read_text() == "seven"
    last = model_server.requests[-1].body["messages"]
    assert "no tools that run or change anything" in last[0]["content"]
    assert next(m["content"] for m in last if m["role"] == "user") == "Write seven"
    calls = [call for m in last for call in m.get("tool_calls", [])]
    assert [call["function"]["name"] for call in calls] == ["write_file", "finish", "write_file"]
    assert "write_file" in tools_of(model_server.requests[0])
    assert tools_of(model_server.requests[-1]) == set(names)


async def test_in_ask_mode_a_model_is_not_told_of_what_is_refused(manager, model_server):
    model_server.play(call("write_file", path="a", content="b"), call("finish", message="No."))
    async with manager() as sessions:
        session = await sessions.create(mode="ask")
        session.send_message("Write")
        await until(session, "finished")
        (refused,) = events(session, ErrorObservation)
        assert refused.code == "refused"
    offered = tools_of(model_server.requests[0])
    assert {"read_file", "execute_bash", "nb_edit", "inspect"} <= offered
    assert offered & {"write_file", "edit_file", "run_code", "run_cells", "copy_in"} == set()


async def test_an_agent_that_is_gone_is_told_and_another_can_be_chosen(manager, model_server):
    model_server.play(call("finish", message="Here."))
    async with manager() as sessions:
        with pytest.raises(Invalid, match="no agent “nobody”"):
            await sessions.create(agent="nobody")
        session = await sessions.create()
        # As when its package was removed since.
        session.change_settings(agent="removed")
        session.send_message("Go on")
        failed = await until(session, "error")
        assert (failed.code, "no agent “removed”" in failed.reason) == ("unknown_agent", True)
        session.change_settings(agent="codeact")
        asked = session.send_message("Go on")
        await until(session, "finished", after=asked)


async def test_delegates_work_one_after_the_other_and_only_their_results_come_back(
    manager, model_server, workspace
):
    (workspace / "a.txt").write_text("seven")
    look = "Say what stands in a.txt."
    model_server.play(
        together(
            call("delegate", agent="readonly", task=look),
            call("delegate", agent="codeact", task="Count its letters."),
        ),
        call("read_file", path="a.txt"),
        call("finish", message="It says seven."),
        call("delegate", agent="nobody", task="Count."),
        text("Five."),
        call("finish", message="Seven has five letters."),
    )
    async with manager() as sessions:
        session = await sessions.create()
        session.send_message("How many letters?")
        await until(session, "finished")
        first, second = events(session, AgentDelegateAction)
        ends = events(session, AgentDelegateObservation)
        assert [(e.cause, e.agent, e.content) for e in ends] == [
            (first.id, "readonly", "It says seven."),
            (second.id, "codeact", "Five."),
        ]
        assert ends[0].id < second.id
        introduced = events(session, SystemMessageAction)
        assert [(e.agent, e.agent_path) for e in introduced] == [
            ("codeact", []),
            ("readonly", [first.id]),
            ("codeact", [second.id]),
        ]
        (wrong,) = events(session, InvalidToolCallAction)
        assert "The agents are: codeact, readonly, swe, browsing." in wrong.message
        assert session.info().steps == 6
        used = events(session, ModelUsageObservation)
        assert [e.agent_path for e in used] == [[], *[[first.id]] * 2, *[[second.id]] * 2, []]
        assert session.info().delegates == []
    asked = [request.body["messages"] for request in model_server.requests]
    assert [m["content"] for m in asked[1][1:]] == [look]
    assert "Another agent gave you your task" in asked[1][0]["content"]
    assert "Another agent" not in asked[0][0]["content"]
    assert "delegate" in tools_of(model_server.requests[0]) & tools_of(model_server.requests[3])
    assert "delegate" not in tools_of(model_server.requests[1])
    results = [m["content"] for m in asked[5] if m["role"] == "tool"]
    assert ["seven" in results[0], "Five." in results[1]] == [True, True]
    assert len(asked[5]) == 5 and len(asked[5][2]["tool_calls"]) == 2


async def test_a_delegates_delegate_asks_and_is_answered_after_a_restart(manager, model_server):
    model_server.play(
        call("delegate", agent="codeact", task="Paint it."),
        call("delegate", agent="codeact", task="Choose a colour."),
        call("delegate", agent="codeact", task="Guess."),
        call("ask_user", question="Which?", options=["red", "blue"]),
    )
    async with manager() as sessions:
        session = await sessions.create()
        asked = session.send_message("Paint")
        await until(session, "awaiting_user_input", after=asked)
        (wrong,) = events(session, InvalidToolCallAction)
        assert "no tool 'delegate'" in wrong.message, "two are as deep as it goes"
    model_server.play(
        call("finish", message="Blue it is."),
        call("finish", message="Painted."),
        call("finish", message="All done."),
    )
    async with manager() as sessions:
        session = await sessions.open(session.id)
        assert session.info().state == "awaiting_user_input"
        assert session.info().delegates == ["codeact", "codeact"]
        question = events(session, AgentMessageAction)[-1]
        assert (question.content, question.options) == ("Which?", ["red", "blue"])
        answered = session.send_message("blue")
        await until(session, "finished", after=answered)
        results = [event.content for event in events(session, AgentDelegateObservation)]
        assert results == ["Blue it is.", "Painted."]
    first, second, last = (r.body["messages"] for r in model_server.requests[-3:])
    assert (first[-1]["role"], first[-1]["content"]) == ("tool", "blue")
    assert "Blue it is." in second[-1]["content"] and len(second) == 4
    assert "Painted." in last[-1]["content"] and len(last) == 4


async def test_a_plan_is_handed_over_when_the_person_approves_it(manager, model_server, workspace):
    plan = "1. Write seven into a.txt."
    model_server.play(
        call("hand_over"),
        call("write_file", path="a.txt", content="seven"),
        call("write_file", path="PLAN.md", content="Write six."),
        call("hand_over"),
        call("write_file", path="PLAN.md", content="Write eight."),
        call("hand_over"),
        call("write_file", path="PLAN.md", content=plan),
        call("hand_over"),
        call("write_file", path="a.txt", content="seven"),
        call("finish", message="Written."),
    )
    async with manager(agent="planner") as sessions:
        session = await sessions.create()
        session.send_message("Have seven in a.txt")
        waiting = await until(session, "awaiting_user_confirmation")
        session.confirm(waiting.cause, "reject", "Seven, not six.")
        waiting = await until(session, "awaiting_user_confirmation", after=waiting.id)
        (workspace / "PLAN.md").write_text("Delete all.")
        session.confirm(waiting.cause, "approve")
        waiting = await until(session, "awaiting_user_confirmation", after=waiting.id)
        assert session.controller.pending.plan == plan
        assert not (workspace / "a.txt").exists()
        session.confirm(waiting.cause, "approve")
        await until(session, "finished")
        assert session.info().agent == "codeact"
        asked = events(session, PlanHandOverAction)
        assert [e.plan for e in asked] == ["", "Write six.", "Write eight.", plan]
        (done,) = events(session, PlanHandOverObservation)
        assert (done.cause, done.plan, done.agent) == (asked[-1].id, plan, "codeact")
        codes = [e.code for e in events(session, ErrorObservation)]
        assert codes == ["file_not_found", "plan_changed"]
        (wrong,) = events(session, InvalidToolCallAction)
        assert "a Markdown file" in wrong.message
    assert (workspace / "a.txt").read_text() == "seven"
    before, after = model_server.requests[7], model_server.requests[8]
    assert tools_of(before) & {"run_code", "edit_file", "execute_bash", "delegate"} == set()
    assert {"run_code", "edit_file", "execute_bash"} <= tools_of(after)
    assert plan in after.body["messages"][-1]["content"]
    assert "Seven, not six." in str(after.body["messages"])


async def test_work_on_a_repository_does_not_end_before_tests_ran(manager, model_server, workspace):
    (workspace / "Makefile").write_text("test:\n\t@grep -q seven a.txt\n")
    model_server.play(
        call("write_file", path="a.txt", content="seven"),
        call("finish", message="Done."),
        call("execute_bash", command="make test"),
        call("finish", message="Done, and tested."),
        call("write_file", path="b.txt", content="eight"),
        call("finish", message="Done."),
        call("finish", message="There is nothing that tests b.txt."),
    )
    async with manager() as sessions:
        session = await sessions.create(agent="swe")
        session.send_message("Have seven in a.txt")
        await until(session, "finished")
        asked = session.send_message("And eight in b.txt")
        await until(session, "finished", after=asked)
        said = [event.message for event in events(session, FinishAction)]
        assert said == ["Done, and tested.", "There is nothing that tests b.txt."]
        held_back = [event.message for event in events(session, InvalidToolCallAction)]
        assert held_back == [UNTESTED] * 2
