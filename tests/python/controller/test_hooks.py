"""The person's hooks: how they are read, run and understood, and what they stop."""

from __future__ import annotations

import asyncio
import json
import re
import time
from pathlib import Path

import psutil
import pytest
from waiting import wait_until

from openhands_jupyter.agents.history import PromptHistory
from openhands_jupyter.config.hooks import read_hook_config
from openhands_jupyter.events import (
    AgentDelegateAction,
    AgentMessageAction,
    AgentStateChangedObservation,
    AgentThinkAction,
    CmdOutputObservation,
    CmdRunAction,
    ErrorObservation,
    FinishAction,
    HookObservation,
    InvalidToolCallAction,
    Masker,
    ModelCall,
    Task,
    TaskTrackingAction,
    UseSkillAction,
)
from openhands_jupyter.hooks import Hook, HookConfig, decide, read_hooks
from openhands_jupyter.hooks.running import Ran, environment, run

CANARY = "canary-0123456789"
DOCS = Path(__file__).resolve().parents[3] / "docs" / "hooks.md"


def hook(event: str, command: str, **more) -> Hook:
    return Hook(event=event, command=command, **more)


def config(*hooks: Hook, **more):
    return lambda: HookConfig(list(hooks), **more)


def told(bench) -> list[tuple[str, str]]:
    return [(e.event, e.outcome) for e in bench.events(HookObservation)]


def prompt(bench) -> str:
    history = PromptHistory()
    history.extend(bench.state.history)
    return "\n".join(str(message.content) for message in history.messages())


# As they are written down


def test_all_ways_of_writing_them_down_say_the_same():
    flat = {"PreToolUse": [{"matcher": "a|b", "command": "x", "timeout": 5, "fail": "open"}]}
    nested = {"matcher": "a|b", "hooks": [{"type": "command", "command": "x", "timeout": 5}]}
    wanted = hook("PreToolUse", "x", matcher="a|b", timeout=5.0)
    assert read_hooks({"hooks": {"PreToolUse": [nested]}}, "f") == HookConfig([wanted])
    assert read_hooks({"PreToolUse": [nested]}, "f").hooks == [wanted]
    assert read_hooks(flat, "f").hooks[0].fails_open
    assert wanted.matches("a") and not wanted.matches("ab")
    assert hook("PreToolUse", "x", matcher="*").matches("ab")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"PreTooluse": []}, "PreTooluse is no event"),
        ({"Stop": {}}, "must be a list"),
        ({"Stop": [{"comand": "x"}]}, "hook 1 of Stop: Object"),
        ({"Stop": [{"command": "x"}, {"command": "x", "timeout": -1}]}, "hook 2 of Stop"),
        ({"PreToolUse": [{"command": "x", "matcher": "("}]}, "hook 1 of PreToolUse"),
        ({"PreToolUse": [{"hooks": [{"type": "prompt", "command": "x"}]}]}, "Invalid enum"),
    ],
)
def test_what_cannot_be_understood_is_told(content, problem):
    assert problem in read_hooks(content, "f").problems[0]


def test_they_come_from_the_persons_files_and_never_from_a_workspace(tmp_path):
    home, work = tmp_path / "home", tmp_path / "work"
    (work / ".openhands").mkdir(parents=True)
    home.mkdir()
    assert read_hook_config(home, work) == HookConfig(workspace=str(work))
    for folder in (home, work / ".openhands"):
        (folder / "config.toml").write_text('[[hooks.Stop]]\ncommand = "a"\n')
        (folder / "hooks.json").write_text('{"Stop": [{"command": "b"}]}')
    found = read_hook_config(home, work)
    assert [h.command for h in found.hooks] == ["a", "b"] and found.problems == []
    assert found.ignored == [".openhands/hooks.json", ".openhands/config.toml"]
    (home / "config.toml").write_text("[hooks]\nStop = [\n")
    (home / "hooks.json").write_text("[]")
    broken = read_hook_config(home, work)
    assert "config.toml" in broken.problems[0] and "line" in broken.problems[0]
    assert "hooks.json" in broken.problems[1]


# What they decide


@pytest.mark.parametrize(
    ("event", "ran", "verb", "reason"),
    [
        ("PreToolUse", Ran(0), "go_on", ""),
        ("PreToolUse", Ran(0, "words"), "go_on", ""),
        ("PreToolUse", Ran(2, "out", "no"), "block", "no"),
        ("PreToolUse", Ran(1, "", "oops"), "block", "exit code 1. oops"),
        ("PreToolUse", Ran(-9), "block", "signal 9"),
        ("PreToolUse", Ran(None), "block", "longer than 60 seconds"),
        ("PreToolUse", Ran(0, "{bad"), "block", "no answer"),
        ("PreToolUse", Ran(0, '{"decision": "block", "reason": "r"}'), "block", "r"),
        ("PreToolUse", Ran(0, '{"decision": "approve"}'), "go_on", ""),
        ("PostToolUse", Ran(1), "fail", "exit code 1"),
        ("Stop", Ran(None), "fail", "longer"),
        ("UserPromptSubmit", Ran(1), "block", "exit code 1"),
    ],
)
def test_what_an_answer_means(event, ran, verb, reason):
    decision = decide(hook(event, "x"), ran)
    assert decision.verb == verb and reason in decision.reason


def test_what_claude_code_answers_means_the_same():
    def specific(**answer):
        return decide(hook("PreToolUse", "x"), Ran(0, json.dumps({"hookSpecificOutput": answer})))

    assert specific(permissionDecision="deny", permissionDecisionReason="r").reason == "r"
    assert specific(permissionDecision="ask").verb == "ask"
    assert specific(permissionDecision="allow").verb == "go_on"
    assert specific(additionalContext="c").context == "c"
    assert decide(hook("SessionStart", "x"), Ran(0, "words")).context == "words"
    opened = hook("PreToolUse", "x", fails_open=True)
    assert decide(opened, Ran(1)).verb == "fail" and decide(opened, Ran(2)).verb == "block"


# How they are run


async def test_a_hook_ends_with_all_that_it_began_and_floods_nobody(tmp_path):
    environ = environment({"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "KEY": "x"}, "/w")
    assert "KEY" not in environ and environ["OPENHANDS_PROJECT_DIR"] == "/w"
    began = time.monotonic()
    assert (await run("sleep 321.5", b"", 0.5, environ)).code is None
    assert time.monotonic() - began < 30
    # Also what has left its group, and its parent.
    leave = "(setsid sh -c 'echo $$; exec sleep 321.5' &)"
    begun = f"pwd; {leave} > pid; until [ -s pid ]; do sleep 0.1; done; cat pid; kill -TERM $$"
    ran = await run(begun, b"", 60, environ)
    where, child = ran.out.split()
    assert (ran.code, where) == (-15, str(tmp_path)) and gone(int(child))
    pids = tmp_path / "pids"
    command = f"{leave} >> {pids}; sleep 321.5 & echo $! >> {pids}; sleep 321.5"
    cancelled = asyncio.create_task(run(command, b"", 60, environ))
    await wait_until(lambda: pids.exists() and len(pids.read_text().split()) == 2)
    cancelled.cancel()
    await asyncio.wait([cancelled])
    assert all(gone(int(pid)) for pid in pids.read_text().split())
    # One that ends at once and leaves a child with its outputs does not hold anybody up.
    ran = await run("sleep 321.5 & exit 3", b"", 60, environ)
    assert ran.code == 3 and time.monotonic() - began < 30
    ran = await run("head -c 9000000 /dev/zero; echo err >&2", b"x" * 5_000_000, 60, environ)
    assert (ran.code, len(ran.out), ran.err) == (0, 65536, "err\n")


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


# In a session


async def test_hooks_before_and_after_a_tool(bench, tmp_path):
    seen = tmp_path / "seen"
    forbids = f"grep -q forbidden {seen} && echo Never. >&2 && exit 2; exit 0"
    check = f"cat >> {seen}; echo >> {seen}; {forbids}"
    llm = ModelCall(response_id="r", tool_call_id="c", tool_name="execute_bash")
    hooks = config(
        hook("PreToolUse", check, matcher="execute_.*"),
        hook("PreToolUse", "exit 2", matcher="something_else"),
        hook("PostToolUse", "echo Look again. >&2; exit 2"),
        hook("PostToolUse", "exit 1"),
        workspace="/the/workspace",
    )
    script = [
        CmdRunAction(command=f"echo {CANARY}", llm=llm),
        CmdRunAction(command="echo forbidden > x"),
    ]
    async with bench(*script, hooks=hooks) as b:
        b.stream.masker = Masker(lambda: [CANARY])
        b.say("go")
        await b.until("finished")
        (done,) = b.events(CmdOutputObservation)
        (blocked,) = b.events(ErrorObservation)
        assert blocked.code == "hook_blocked" and "Never." in blocked.message
        assert told(b) == [
            ("PostToolUse", "told"),
            ("PostToolUse", "failed"),
            ("PreToolUse", "blocked"),
        ]
        assert "Look again." in prompt(b) and done.exit_code == 0
    first = json.loads(seen.read_text().splitlines()[0])
    assert first["hook_event_name"] == "PreToolUse" and first["tool_name"] == "execute_bash"
    assert first["tool_input"]["command"] == "echo <secret_hidden>"
    assert first["action"]["risk"]["level"] == "low" and first["cwd"] == "/the/workspace"


async def test_hooks_see_tasks_for_others_plans_and_questions_too(bench, tmp_path):
    seen = tmp_path / "seen"
    write = f"tee -a {seen}; echo >> {seen}"
    keep = f"({write}) | grep -q forbidden && echo Never. >&2 && exit 2; exit 0"
    hooks = config(hook("PreToolUse", keep), hook("PostToolUse", write))

    def called(tool: str, arguments: str | None = None) -> ModelCall:
        return ModelCall(response_id=tool, tool_call_id=tool, tool_name=tool, arguments=arguments)

    def task(text: str) -> AgentDelegateAction:
        given = json.dumps({"agent": "scripted", "task": text})
        return AgentDelegateAction(agent="scripted", task=text, llm=called("delegate", given))

    def question(text: str) -> AgentMessageAction:
        return AgentMessageAction(content=text, wait_for_response=True, llm=called("ask_user"))

    plan = TaskTrackingAction(tasks=[Task(title="forbidden")], llm=called("update_plan"))
    script = [
        AgentThinkAction(thought="not seen", llm=called("think")),
        plan,
        task("forbidden"),
        task("Say one."),
        FinishAction(message="One."),
        question("Is it forbidden?"),
        UseSkillAction(skill="plots", llm=called("use_skill")),
        question("Which?"),
    ]
    async with bench(*script, hooks=hooks) as b:
        await b.until("awaiting_user_input", after=b.say("go"))
        blocked = b.events(InvalidToolCallAction)
        assert [e.llm.tool_name for e in blocked] == ["update_plan", "delegate", "ask_user"]
        assert all("Never." in event.message for event in blocked)
        # The model reads its calls as it made them.
        assert all("forbidden" in (event.llm.arguments or "") for event in blocked)
        assert told(b) == [("PreToolUse", "blocked")] * 3
        # What was blocked was not said: no plan, no task, no question.
        assert b.state.plan == [] and [e.task for e in b.events(AgentDelegateAction)] == [
            "Say one."
        ]
        assert [e.content for e in b.events(AgentMessageAction)] == ["Which?"]
    given = [json.loads(line) for line in seen.read_text().splitlines()]
    assert [(one["hook_event_name"], one["tool_name"]) for one in given] == [
        ("PreToolUse", "update_plan"),
        ("PreToolUse", "delegate"),
        ("PreToolUse", "delegate"),
        ("PostToolUse", "delegate"),
        ("PreToolUse", "ask_user"),
        ("PreToolUse", "use_skill"),
        ("PostToolUse", "use_skill"),
        ("PreToolUse", "ask_user"),
    ]
    assert given[3]["tool_input"]["task"] == "Say one." and "One." in given[3]["tool_response"]


async def test_a_hook_makes_the_gate_only_stricter(bench):
    hooks = config(
        hook("PreToolUse", """echo '{"decision": "approve"}'"""),
        hook(
            "PreToolUse",
            """grep -q ask-me && echo '{"decision": "ask", "reason": "Is it?"}'; exit 0""",
        ),
    )
    script = [
        CmdRunAction(command="rm -rf ~/.ssh"),
        CmdRunAction(command="echo ask-me"),
        CmdRunAction(command="true"),
    ]
    async with bench(*script, hooks=hooks) as b:
        b.say("go")
        asked = await b.until("awaiting_user_confirmation")
        b.say("no")
        await b.until("awaiting_user_confirmation", after=asked.id)
        assert "Is it?" in " ".join(b.controller.pending.risk.reasons)
        assert ("PreToolUse", "asked") in told(b)
        b.say("no")
        await b.until("finished")
        assert len(b.events(CmdOutputObservation)) == 1


async def test_messages_the_end_and_the_session(bench, tmp_path):
    seen = tmp_path / "seen"
    start = f"cat >> {seen}; echo >> {seen}; echo Be brief."
    hooks = config(
        hook("SessionStart", start),
        hook("SessionEnd", f"cat >> {seen}"),
        hook("UserPromptSubmit", "grep -q hush && echo Not that. >&2 && exit 2; exit 0"),
        hook("Stop", "grep -q 'active\":true' || (echo Run the tests. >&2; exit 2)"),
        ignored=[".openhands/hooks.json"],
    )
    question = AgentMessageAction(
        content="Which?",
        wait_for_response=True,
        llm=ModelCall(response_id="q", tool_call_id="q", tool_name="ask_user"),
    )
    script = [question, FinishAction(message="1"), FinishAction(message="2")]
    async with bench(*script, hooks=hooks) as b:
        first = b.say("hush one")
        state = await b.until("awaiting_user_input", after=first)
        assert state.code == "hook_blocked" and "Not that." in state.reason
        assert b.agent.seen == [] and "hush" not in prompt(b)
        second = b.say("ask me")
        await b.until("awaiting_user_input", after=second)
        third = b.say("hush two")
        await b.until("awaiting_user_input", after=third)
        assert len(b.agent.seen) == 1 and "hush" not in prompt(b)
        b.say("go on")
        await b.until("finished")
        assert [e.message for e in b.events(FinishAction)] == ["1", "2"]
        assert "You are not done yet." in prompt(b) and "Be brief." in prompt(b)
        assert told(b)[:2] == [("SessionStart", "ignored"), ("SessionStart", "told")]
        assert told(b).count(("Stop", "blocked")) == 1
    names = re.findall(r'"hook_event_name":"(\w+)"', seen.read_text())
    assert names == ["SessionStart", "SessionEnd"]


async def test_nothing_is_done_while_hooks_cannot_be_understood(bench):
    found = [HookConfig(problems=["hooks.json: line 3."])]
    async with bench(hooks=lambda: found[0]) as b:
        b.say("go")
        state = await b.until("error")
        assert state.code == "hooks_broken" and "line 3" in state.reason
        assert b.agent.seen == []
        found[0] = HookConfig()
        b.say("again")
        await b.until("finished")
        assert [e.code for e in b.events(AgentStateChangedObservation)][-1] == ""


def test_the_examples_of_the_page_are_understood(tmp_path):
    (toml,) = re.findall(r"```toml\n(.*?)```", DOCS.read_text(), re.DOTALL)
    (written,) = re.findall(r"```json\n(.*?)```", DOCS.read_text(), re.DOTALL)
    (tmp_path / "config.toml").write_text(toml)
    (tmp_path / "hooks.json").write_text(written)
    found = read_hook_config(tmp_path, tmp_path)
    assert found.problems == []
    assert {h.event for h in found.hooks} == {"PreToolUse", "PostToolUse", "Stop"}
