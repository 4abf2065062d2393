"""The CodeAct agent with a real LiteLLM between it and a scripted model, in a real sandbox."""

from __future__ import annotations

import asyncio
from itertools import chain

from model_server.anthropic import SIGNATURE
from model_server.script import call, empty, hang, malformed, status, text, together
from session_tools import SECRET, events, until
from waiting import PATIENCE, unhurried

from openhands_jupyter.events import (
    AgentMessageAction,
    CmdOutputObservation,
    CmdRunAction,
    CondensationAction,
    FileWriteAction,
    FileWriteObservation,
    FinishAction,
    InvalidToolCallAction,
    ModelUsageObservation,
    QuarantineAction,
    UserMessageAction,
)
from openhands_jupyter.session.info import Spent

SCRIPT = "a, b = 0, 1\nfor _ in range(10):\n    print(a)\n    a, b = b, a + b\n"


async def test_the_example(manager, model_server, workspace):
    model_server.play(
        call("write_file", path="fib.py", content=SCRIPT).saying("I write it."),
        call("execute_bash", command="python fib.py"),
        call("finish", message="Done: 0 to 34."),
    )
    async with manager() as sessions:
        session = await sessions.create()
        session.send_message("Write a Python script that computes Fibonacci numbers and run it")
        await until(session, "finished")
        kinds = [
            UserMessageAction,
            FileWriteAction,
            FileWriteObservation,
            CmdRunAction,
            CmdOutputObservation,
            FinishAction,
        ]
        told = events(session, *kinds)
        assert [type(event) for event in told] == kinds
        assert [event.cause for event in told[1:]] == [event.id for event in told[:-1]]
        assert (told[4].exit_code, told[4].content.split()[-1]) == (0, "34")
        assert told[1].thought == "I write it."
        assert [usage.cost for usage in events(session, ModelUsageObservation)] == [None] * 3
        # A price that nobody knows is not nothing.
        assert session.info().spent == Spent(
            prompt_tokens=300, completion_tokens=30, unpriced_tokens=330
        )
    assert (workspace / "fib.py").read_text() == SCRIPT
    last = model_server.requests[-1].body["messages"]
    assert [message["role"] for message in last] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
    ]
    assert "34" in last[-1]["content"]
    assert last[2]["tool_calls"][0]["id"] == last[3]["tool_call_id"]


async def test_the_key_is_nowhere_but_with_the_provider(manager, model_server, tmp_path, caplog):
    model_server.play(
        call("execute_bash", command=f"echo {SECRET}; env; cat /proc/1/environ"),
        call("finish", message=f"The key is {SECRET}."),
    )
    async with manager() as sessions:
        session = await sessions.create(mode="auto")
        session.send_message(f"My key is {SECRET}, look for it")
        await until(session, "finished")
    assert model_server.requests[0].headers["authorization"] == f"Bearer {SECRET}"
    written = b"".join(p.read_bytes() for p in (tmp_path / "home").rglob("*") if p.is_file())
    assert SECRET.encode() not in written
    assert b"<secret_hidden>" in written
    assert SECRET not in caplog.text


async def test_calls_of_one_response_run_in_order_and_go_back_together(manager, model_server):
    model_server.play(
        together(*(call("execute_bash", command=f"echo out-{n}") for n in "abc")),
        call("finish", message="done"),
    )
    async with manager() as sessions:
        session = await sessions.create()
        session.send_message("go")
        await until(session, "finished")
        outputs = [event.content.strip() for event in events(session, CmdOutputObservation)]
        assert outputs == ["out-a", "out-b", "out-c"]
        assert session.info().steps == 2, "one response is one step"
    messages = model_server.requests[-1].body["messages"]
    assert len(messages[2]["tool_calls"]) == 3
    assert [m["tool_call_id"] for m in messages[3:6]] == [
        c["id"] for c in messages[2]["tool_calls"]
    ]


# One session for many calls: every session manager has a model gateway to load.
WRONG_CALLS = [
    (malformed("execute_bash", '{"command": "ls'), "not valid JSON"),
    (call("execute_bash", cmd="ls"), "command"),
    (call("launch_rocket", where="moon"), "There is no tool"),
]


async def test_signed_thoughts_are_on_the_log_and_go_back_after_a_restart(manager, model_server):
    model_server.play(
        call("execute_bash", command="echo hi").thinking("Let me say hi first."),
        text("I am done?"),
        call("finish", message="done"),
    )
    claude = {
        "model": "anthropic/claude-sonnet-4-5",
        "base_url": model_server.url.removesuffix("/v1"),
    }
    async with manager(**claude) as sessions:
        session = await sessions.create()
        await until(session, "awaiting_user_input", after=session.send_message("go"))
        [action] = events(session, CmdRunAction)
        assert action.llm.reasoning == "Let me say hi first."
    async with manager(**claude) as sessions:
        session = await sessions.open(session.id)
        await until(session, "finished", after=session.send_message("yes"))
    assert len(model_server.requests) == 3
    for request in model_server.requests[1:]:
        thinking, use = request.body["messages"][1]["content"]
        assert (thinking["thinking"], use["type"]) == ("Let me say hi first.", "tool_use")
        assert thinking["signature"] == SIGNATURE


async def test_a_wrong_call_goes_back_to_the_model(manager, model_server):
    model_server.play(*(wrong for wrong, _ in WRONG_CALLS), call("finish", message="I see."))
    async with manager() as sessions:
        session = await sessions.create()
        session.send_message("go")
        await until(session, "finished")
        noted = [event.message for event in events(session, InvalidToolCallAction)]
    results = [
        m["content"] for m in model_server.requests[-1].body["messages"] if m["role"] == "tool"
    ]
    assert len(noted) == len(results) == len(WRONG_CALLS)
    for (_, told), note, result in zip(WRONG_CALLS, noted, results, strict=True):
        assert told in note
        assert told in result


async def test_an_answer_in_words_waits_for_the_person(manager, model_server):
    model_server.play(text("It is 42."))
    async with manager() as sessions:
        session = await sessions.create()
        message = session.send_message("what is it?")
        await until(session, "awaiting_user_input", after=message)
        (answer,) = events(session, AgentMessageAction)
        assert (answer.content, answer.cause) == ("It is 42.", message)


FAULTS = {
    "model_auth": [status(401)],
    "model_not_found": [status(404)],
    "model_unavailable": [status(500)],
    "model_rate_limited": [status(429, retry_after="700")],
    "model_empty": [empty()] * 3,
    "model_cut_off": [call("execute_bash", command="x" * 400).cut(after=2)] * 3,
}


async def test_a_failing_model_is_an_error_that_says_what_to_do_and_can_be_retried(
    manager, model_server
):
    model_server.play(*chain(*FAULTS.values()), call("finish", message="now it works"))
    async with manager(model_retries=0) as sessions:
        session = await sessions.create()
        after = session.send_message("go")
        for code in FAULTS:
            failed = await until(session, "error", after=after)
            assert failed.code == code
            assert failed.reason
            assert failed.hint
            assert SECRET not in failed.reason + failed.hint
            after = session.command("run")
        await until(session, "finished")


async def test_what_is_refused_or_too_long_is_left_out_and_stays_so_after_a_restart(
    manager, model_server
):
    model_server.play(
        call("execute_bash", command="seq 1 9000"),
        status(400, "Invalid 'messages[3].content': contains what is not allowed."),
        call("execute_bash", command="seq 2 9001"),
        call("execute_bash", command="echo three"),
        status(400, "This model's maximum context length is 4097 tokens."),
        text("Notes: the numbers up to 9001 were printed."),
        text("All done."),
        text("Still here."),
    )
    async with manager(condenser_model="openai/sums-up") as sessions:
        session = await sessions.create()
        message = session.send_message("Count")
        await until(session, "awaiting_user_input", after=message)
        (quarantine,) = events(session, QuarantineAction)
        (condensation,) = events(session, CondensationAction)
        first, *_ = events(session, CmdRunAction)
        assert quarantine.items == [first.id]
        assert "messages[3]" in quarantine.message
        assert (condensation.condenser, condensation.reason) == ("llm", "overflow")
        assert "the numbers up to 9001" in condensation.summary
        assert session.info().steps == 4
        callers = [usage.caller for usage in events(session, ModelUsageObservation)]
        assert callers == ["agent"] * 3 + ["condenser", "agent"]
        assert [request.body["model"] for request in model_server.requests[-3:]] == [
            "scripted",
            *("sums-up", "scripted"),
        ]
        id = session.id
    async with manager() as sessions:
        session = await sessions.open(id)
        message = session.send_message("And now?")
        await until(session, "awaiting_user_input", after=message)
    before, after = (request.body["messages"] for request in model_server.requests[-2:])
    assert [m["role"] for m in before[1:]] == ["user", "user", "assistant", "tool"]
    assert after[1 : len(before)] == before[1:]


async def test_a_model_that_repeats_itself_is_told_then_paused_and_cut_back(
    manager, model_server, workspace
):
    again = call("execute_bash", command="echo $RANDOM >> tries; date +%N")
    model_server.play(call("write_file", path="a.txt", content="a"), *[again] * 8)
    async with manager() as sessions:
        session = await sessions.create()
        session.send_message("go")
        paused = await until(session, "paused")
        told = model_server.requests[5].body["messages"][-1]
        assert told["role"] == "user"
        assert told["content"].startswith("[From the environment, not from the user: This looks")
        info = session.info()
        assert (paused.code, info.stuck.pattern, info.stuck.times) == ("stuck", "same_action", 4)
        assert len((workspace / "tries").read_text().splitlines()) == 8
        session.rewind(info.stuck.first)
        await until(session, "awaiting_user_input", after=paused.id)
        assert session.info().stuck is None
        assert [path.name for path in workspace.iterdir()] == ["a.txt"]
        model_server.play(call("finish", message="done"))
        session.send_message("do not try again")
        await until(session, "finished")


async def test_a_diagnosis_names_what_is_waited_for(manager, model_server):
    model_server.play(
        call("execute_bash", command="echo begun; sleep 300"),
        call("execute_bash", command="rm -rf /home"),
        hang(),
    )
    async with manager() as sessions:
        session = await sessions.create()
        assert (await session.diagnosis()).waits_for == "person"
        session.send_message("go")
        action = await session.stream.wait_for(lambda event: isinstance(event, CmdRunAction))
        async with asyncio.timeout(PATIENCE):
            while (found := await session.diagnosis()).processes != ["sleep"]:
                await asyncio.sleep(0.05)
        assert found.waits_for == "sandbox"
        assert found.last_id == session.stream.last_id
        assert found.seconds > 0
        session.command("stop")
        stopped = await until(session, "stopped", after=action.id)
        session.send_message("go on")
        await until(session, "awaiting_user_confirmation", after=stopped.id)
        asked = await session.diagnosis()
        assert (asked.waits_for, asked.summary) == (
            "person",
            "A step of the agent waits for your approval.",
        )
        session.confirm(session.info().pending, "reject")
        await asyncio.to_thread(model_server.wait_for, lambda requests: len(requests) == 3, 60)
        found = await session.diagnosis()
        assert (found.waits_for, found.processes) == ("model", [])
        assert "openai/" in found.summary
        session.command("stop")


async def test_a_model_whose_server_takes_no_tools_acts_through_its_text(manager, model_server):
    script = (
        "I look.\n"
        '<tool_call name="execute_bash">\n<argument name="command">\necho hello\n</argument>\n'
        "</tool_call>\nIt says nothing."
    )
    model_server.play(
        status(400, "scripted does not support tools"),
        text(script).paced(0.03),
        text("It says hello."),
    )
    async with manager() as sessions:
        session = await sessions.create()
        seen = []

        async def watch() -> None:
            async for items in session.stream.live.subscribe():
                seen.extend(item for item in items if item.kind == "text")

        watching = asyncio.create_task(watch())
        message = session.send_message("What does it say?")
        await until(session, "awaiting_user_input", after=message)
        watching.cancel()
        (action,) = events(session, CmdRunAction)
        assert (action.command, action.thought) == ("echo hello", "I look.")
        assert events(session, AgentMessageAction)[-1].content == "It says hello."
        shown = "".join(item.text for item in seen)
        assert shown.startswith("I look.")
        assert "tool_call" not in shown
        assert "nothing" not in shown
    refused, *told = (request.body for request in model_server.requests)
    assert refused["tools"]
    assert not any("tools" in body for body in told)
    assert [m["role"] for m in told[-1]["messages"]] == ["system", "user", "assistant", "user"]
    assert "hello" in told[-1]["messages"][-1]["content"]


async def test_a_server_that_repeats_its_response_ids_does_not_confuse(manager, model_server):
    model_server.play(
        call("execute_bash", command="echo one").but(id="same"),
        call("execute_bash", command="echo two").but(id="same"),
        call("finish", message="done").but(id="same"),
    )
    async with manager() as sessions:
        session = await sessions.create()
        session.send_message("go")
        await until(session, "finished")
        assert session.info().steps == 3
    roles = [m["role"] for m in model_server.requests[-1].body["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "tool"]


async def test_stopping_hangs_up_on_the_model(manager, model_server):
    model_server.play(hang())
    async with manager() as sessions:
        session = await sessions.create()
        session.send_message("go")
        await until(session, "running")
        await asyncio.to_thread(model_server.wait_for, lambda requests: bool(requests), 60)
        started = unhurried()
        session.command("stop")
        await until(session, "stopped")
        assert unhurried() - started < 2
        await asyncio.to_thread(
            model_server.wait_for, lambda requests: requests[0].outcome == "disconnected"
        )


async def test_text_shows_while_it_is_written(manager, model_server):
    words = " ".join(f"word{n}" for n in range(40))
    model_server.play(text(words).paced(0.02))
    async with manager() as sessions:
        session = await sessions.create()
        seen: list[str] = []

        async def watch() -> None:
            async for items in session.stream.live.subscribe():
                seen.extend(item.text for item in items if item.kind == "text")

        watching = asyncio.create_task(watch())
        message = session.send_message("tell")
        await until(session, "awaiting_user_input", after=message)
        await asyncio.sleep(0.1)
        watching.cancel()
        assert "".join(seen) == words
        assert len(seen) > 3, "in several pieces"


async def test_another_model_answers_from_the_next_call_on(manager, model_server):
    model_server.play(text("from the provider"))
    async with manager() as sessions:
        session = await sessions.create(model="tour")
        first = session.send_message("Cure the common cold")
        await until(session, "awaiting_user_input", after=first)
        assert not model_server.requests
        session.change_settings(model="openai/scripted")
        second = session.send_message("and now?")
        await until(session, "awaiting_user_input", after=second)
        assert events(session, AgentMessageAction)[-1].content == "from the provider"
