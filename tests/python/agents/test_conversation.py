"""An agent's talk with a model as strict as any: what is too long, refused, or means nothing."""

from __future__ import annotations

import statistics
import time

import msgspec
import pytest
from agent_loop import Loop, StrictModel, call, once, run, say, steps

from openhands_jupyter.agents.condensers import CondenserSettings
from openhands_jupyter.agents.history import PromptHistory
from openhands_jupyter.errors import ModelError
from openhands_jupyter.events import (
    AgentMessageAction,
    CmdOutputObservation,
    CmdRunAction,
    CondensationAction,
    ErrorObservation,
    Event,
    FinishAction,
    InvalidToolCallAction,
    ModelCall,
    QuarantineAction,
)
from openhands_jupyter.llm import prompted
from openhands_jupyter.llm.base import Response

CUT_OFF = ModelError("model_cut_off", "The answer broke off.")


def bad_request(message: str) -> ModelError:
    return ModelError("model_bad_request", f"The provider did not accept the request. {message}")


def text_of(prompt: list) -> str:
    return "\n".join(str(message.content) for message in prompt)


# Replies that mean nothing


async def test_empty_and_broken_replies_are_told_to_the_model_which_then_goes_on():
    loop = Loop(StrictModel(once(say("  "), CUT_OFF, run("ls"))))
    loop.say("go")
    await loop.until_it_ends()
    told = [event.message for event in loop.of(InvalidToolCallAction)]
    assert ["empty" in told[0], "broke off" in told[1]] == [True, True]
    last = text_of(loop.model.prompts[-1])
    assert all(message in last for message in told)
    assert [m.role for m in loop.model.prompts[-1]][1:] == ["user"] * 3 + ["assistant", "tool"]


@pytest.mark.parametrize("fault", [say(""), CUT_OFF])
async def test_the_third_reply_in_a_row_that_means_nothing_fails_and_can_be_retried(fault):
    loop = Loop(StrictModel(once(fault, fault, run("x"), fault, fault, fault, run("ls"))))
    loop.say("go")
    with pytest.raises(ModelError) as failed:
        await loop.until_it_ends()
    assert failed.value.code in ("model_empty", "model_cut_off")
    assert len(loop.of(InvalidToolCallAction)) == 4
    await loop.until_it_ends()


async def test_calls_that_do_not_fit_come_back_with_what_is_wrong_and_not_for_ever():
    wrong = [
        call("execute_bash", '{"command": "ls'),
        call("execute_bsh", '{"command": "ls"}'),
        call("execute_bash", '{"cmd": "ls"}'),
        msgspec.structs.replace(call("write_file", '{"path": "a", "co'), finish_reason="length"),
    ]
    loop = Loop(StrictModel(once(*wrong, run("ls"))))
    loop.say("go")
    await loop.until_it_ends()
    told = [event.message for event in loop.of(InvalidToolCallAction)]
    assert "not valid JSON" in told[0]
    assert "Did you mean 'execute_bash'?" in told[1]
    assert "command" in told[2]
    assert "write less in one call" in told[3]

    nonsense = [
        call("execute_bash", '{"command": ' + "[" * 5000 + "]" * 5000 + "}"),
        call(""),
        call("run\n<b>\x1b[31m"),
        call("n" * 100_000),
    ]
    loop = Loop(StrictModel(once(*nonsense, run("ls"))))
    loop.say("go")
    await loop.until_it_ends()
    assert len(loop.of(InvalidToolCallAction)) == 4
    assert len(text_of(loop.model.prompts[-1])) < 30_000

    loop = Loop(StrictModel(once(*wrong, *wrong)))
    loop.say("go")
    with pytest.raises(ModelError, match="5 times in a row"):
        await loop.until_it_ends()


async def test_forty_calls_at_once_are_done_one_by_one_and_go_back_together():
    calls = [run(f"echo {n}", id=f"c{n}").tool_calls[0] for n in range(40)]
    loop = Loop(StrictModel(once(Response(id="r", model="strict", tool_calls=calls))))
    loop.say("go")
    await loop.until_it_ends()
    assert loop.state.steps == 2
    assert [m.tool_call_id for m in loop.model.prompts[-1] if m.role == "tool"] == [
        f"c{n}" for n in range(40)
    ]


async def test_a_result_of_two_megabytes_is_shown_with_head_and_tail():
    huge = "start\n" + "x" * 2_000_000 + "\nend"
    loop = Loop(
        StrictModel(once(run("cat big"))),
        lambda action: ErrorObservation(code="failed", message=huge),
    )
    loop.say("go")
    await loop.until_it_ends()
    (result,) = [m.content for m in loop.model.prompts[-1] if m.role == "tool"]
    assert len(result) < 50_000
    assert "start" in result
    assert result.endswith("end")


# What a provider does not accept


def refusing(*words: str, complaint: str, then: int = 3):
    """A provider that accepts no prompt with one of these words."""
    go_on = steps(then)

    def reply(messages):
        if any(word in text_of(messages) for word in words):
            raise bad_request(complaint)
        return go_on(messages)

    return reply


def printing(*outputs: str):
    left = list(outputs)
    return lambda action: CmdOutputObservation(content=left.pop(0) if left else "ok", exit_code=0)


@pytest.mark.parametrize(
    ("complaint", "requests"),
    [
        ("Invalid 'messages[3].content': string contains what is not allowed.", 1),
        ("messages.2.content.0.tool_result: Input should be valid", 1),
        ("The result of tool call call_0 cannot be read.", 1),
        ("Invalid request.", 1),
    ],
)
async def test_what_a_provider_does_not_accept_is_quarantined_and_the_work_goes_on(
    complaint, requests
):
    model = StrictModel(refusing("poison", complaint=complaint))
    loop = Loop(model, printing("poison"))
    loop.say("go")
    await loop.until_it_ends()
    (quarantine,) = loop.of(QuarantineAction)
    culprit = loop.of(CmdOutputObservation)[0].cause
    assert quarantine.items == [culprit]
    assert complaint in quarantine.message
    assert model.refused == requests
    assert loop.state.steps == 4
    assert "does not accept it" in text_of(model.prompts[-1])


async def test_older_items_are_found_too_when_another_model_refuses_them():
    model = StrictModel(steps(10))
    loop = Loop(model, printing("a", "poison", "b", "poison", "c"))
    loop.say("go")
    for _ in range(5):
        await loop.step()
    model.reply = refusing("poison", complaint="Invalid request.")
    await loop.until_it_ends()
    left_out = {id for event in loop.of(QuarantineAction) for id in event.items}
    culprits = {e.cause for e in loop.of(CmdOutputObservation) if "poison" in e.content}
    assert culprits <= left_out
    assert "go" in text_of(model.prompts[-1])


async def test_a_request_that_is_refused_whatever_is_left_out_fails_and_leaves_no_trace():
    def refuse(messages):
        raise bad_request("No tools here.")

    model = StrictModel(steps(2))
    loop = Loop(model)
    loop.say("go")
    await loop.step()
    model.reply = refuse
    with pytest.raises(ModelError, match="No tools here"):
        await loop.step()
    assert model.refused < 15
    assert not loop.of(QuarantineAction)
    model.reply = steps(1)
    await loop.until_it_ends()
    assert "does not accept it" not in text_of(model.prompts[-1])


async def test_the_message_that_waits_for_its_answer_is_never_quarantined():
    model = StrictModel(refusing("forbidden", complaint="Invalid request."))
    loop = Loop(model)
    loop.say("something forbidden")
    with pytest.raises(ModelError):
        await loop.step()
    loop.say("something else")
    await loop.until_it_ends()
    assert "something else" in text_of(model.prompts[-1])


# Too long a prompt


CONDENSERS = ["pipeline", "llm", "observation_masking", "conversation_window"]


@pytest.mark.parametrize("kind", CONDENSERS)
async def test_five_hundred_steps_fit_into_a_small_window(kind):
    model = StrictModel(steps(500, text="I go on, step by step, as was planned before."), 32_000)
    loop = Loop(
        model,
        lambda action: CmdOutputObservation(content="line of output\n" * 60, exit_code=0),
        CondenserSettings(type=kind, max_tokens=26_000),
    )
    loop.say("First of all: keep the word heliotrope in mind.")
    await loop.until_it_ends()
    condensations = loop.of(CondensationAction)
    assert loop.state.steps == 501
    assert 3 < len(condensations) < 80
    assert all(event.tokens_after < event.tokens_before * 0.9 for event in condensations)
    assert model.refused == 0
    assert all("heliotrope" in text_of(prompt) for prompt in model.prompts)
    expected = {"observation_masking", "llm"} if kind == "pipeline" else {kind}
    assert expected <= {event.condenser for event in condensations}
    assert bool(model.summaries) == (kind in ("pipeline", "llm"))
    assert_only_condensations_change_the_beginning(model, len(condensations))


def assert_only_condensations_change_the_beginning(model: StrictModel, allowed: int) -> None:
    """Providers keep the beginning of a prompt that begins as the one before it did."""
    pairs = zip(model.prompts, model.prompts[1:], strict=False)
    changes = sum(after[: len(before)] != before for before, after in pairs)
    assert 0 < changes <= allowed


async def test_a_provider_that_refuses_the_length_has_it_condensed_and_is_not_asked_so_again():
    model = StrictModel(steps(200), window=20_000)
    loop = Loop(model, lambda action: CmdOutputObservation(content="x " * 2_000, exit_code=0))
    loop.say("go")
    await loop.until_it_ends()
    reasons = [event.reason for event in loop.of(CondensationAction)]
    assert reasons[0] == "overflow"
    assert reasons.count("overflow") <= 2
    assert reasons.count("tokens") > 2
    assert model.refused <= 2


async def test_a_result_longer_than_the_window_is_shortened():
    model = StrictModel(once(run("cat"), run("ls")), window=10_000)
    loop = Loop(model, printing("y " * 14_000))
    loop.say("go")
    await loop.until_it_ends()
    assert loop.of(CondensationAction)[-1].masked
    assert "Ask for less at a time" in text_of(model.prompts[-1])


async def test_where_nothing_makes_it_short_enough_the_error_is_told():
    loop = Loop(StrictModel(steps(3), window=100))
    loop.say("go")
    with pytest.raises(ModelError) as failed:
        await loop.step()
    assert failed.value.code == "model_context"


async def test_a_summary_that_is_too_long_or_fails_leaves_it_to_the_window():
    class Poor(StrictModel):
        async def complete(self, messages, tools, on_delta):
            if not tools:
                self.summaries.append(list(messages))
                raise ModelError("model_context", "too long")
            return await super().complete(messages, tools, on_delta)

    model = Poor(steps(60), window=20_000)
    settings = CondenserSettings(type="llm", max_tokens=15_000)
    loop = Loop(
        model, lambda action: CmdOutputObservation(content="z " * 1_000, exit_code=0), settings
    )
    loop.say("go")
    await loop.until_it_ends()
    assert {event.condenser for event in loop.of(CondensationAction)} == {"conversation_window"}
    assert len(model.summaries) >= 3
    lengths = [len(text_of(messages)) for messages in model.summaries[:3]]
    assert lengths[0] > lengths[1] > lengths[2], "each try with less of the text"


async def test_without_a_condenser_the_error_is_the_providers_own():
    loop = Loop(
        StrictModel(steps(100), window=15_000),
        lambda action: CmdOutputObservation(content="z " * 1_000, exit_code=0),
        CondenserSettings(type="noop"),
    )
    loop.say("go")
    with pytest.raises(ModelError, match="maximum context length"):
        await loop.until_it_ends()


async def test_what_the_person_said_meanwhile_stays_in_their_words():
    model = StrictModel(steps(120))
    settings = CondenserSettings(type="conversation_window", max_tokens=15_000)
    loop = Loop(
        model, lambda action: CmdOutputObservation(content="z " * 500, exit_code=0), settings
    )
    loop.say("go")
    for number in range(90):
        if number == 10:
            loop.say("Never touch the file archive.csv")
        await loop.step()
    assert len(loop.of(CondensationAction)) > 2
    assert "Never touch the file archive.csv" in text_of(model.prompts[-1])


# The same after a restart, and as fast at the end


async def test_a_restart_makes_the_same_prompt_of_the_log():
    model = StrictModel(refusing("poison", complaint="Invalid request.", then=150))
    loop = Loop(
        model,
        printing("a", "poison", *["w " * 800] * 140),
        CondenserSettings(max_tokens=18_000),
    )
    loop.say("go")
    for _ in range(140):
        await loop.step()
    kinds = {type(event) for event in loop.events}
    assert {CondensationAction, QuarantineAction} <= kinds
    loop.agent = loop.new_agent()
    await loop.step()
    before, after = model.prompts[-2:]
    assert after[: len(before)] == before


@pytest.mark.parametrize("cut", range(6))
async def test_wherever_the_log_ends_the_prompt_is_one_that_providers_take(cut):
    calls = [run(f"echo {n}", id=f"c{n}").tool_calls[0] for n in range(3)]
    loop = Loop(StrictModel(once(Response(id="r", model="strict", tool_calls=calls), run("ls"))))
    loop.say("go")
    await loop.until_it_ends()
    ended = Loop(StrictModel(steps(1)))
    for event in loop.events[: 1 + cut]:
        ended.add(event)
    ended.say("go on")
    await ended.until_it_ends()


def test_the_work_of_a_step_does_not_grow():
    history, events = PromptHistory(), []
    times = []
    for number in range(3_000):
        events += made(number)
        started = time.perf_counter()
        history.extend(events)
        history.messages()
        history.size()
        times.append(time.perf_counter() - started)
    early, late = statistics.median(times[200:700]), statistics.median(times[-500:])
    # What is left is the copy of a list of references.
    assert late < 5 * early


def made(number: int) -> list[Event]:
    """One step, as the log has it."""
    id = 2 * number
    origin = ModelCall(response_id=f"r{number}", tool_call_id=f"c{number}")
    action = CmdRunAction(id=id, source="agent", command="ls", llm=origin)
    return [action, CmdOutputObservation(id=id + 1, cause=id, content="ok " * 50, exit_code=0)]


async def test_an_answer_in_words_is_one_and_resets_the_tries():
    loop = Loop(StrictModel(once(say(""), say(""), say("It is 42."), say(""), say(""))))
    loop.say("go")
    for _ in range(3):
        last = await loop.step()
    assert isinstance(last, AgentMessageAction)
    loop.say("and?")
    await loop.until_it_ends()
    assert isinstance(loop.events[-1], FinishAction)


# Models that are told of tools in words


class Told(StrictModel):
    """A model whose calls are read out of its text."""

    async def complete(self, messages, tools, on_delta):
        async def ask(messages, no_tools, on_delta):
            return self.reply(messages)

        return await prompted.complete(ask, messages, tools, on_delta)


BAD, GOOD = "Let me.\n<tool_call>ls</tool_call>", "<execute_bash>ls</execute_bash>"


async def test_a_model_without_tool_calls_acts_through_its_text_and_is_told_what_is_wrong():
    prompts = []
    replies = once(say(BAD), say(GOOD), say(BAD), say(BAD), say(GOOD), say("It is done."))

    def reply(messages):
        prompts.append(messages)
        return replies(messages)

    loop = Loop(Told(reply))
    loop.say("go")
    actions = [await loop.step() for _ in range(6)]
    assert [type(action) for action in actions] == [
        InvalidToolCallAction,
        CmdRunAction,
        InvalidToolCallAction,
        InvalidToolCallAction,
        CmdRunAction,
        AgentMessageAction,
    ]
    assert actions[0].thought == "Let me."
    assert actions[-1].notice == ""
    assert "<tool_call>ls</tool_call>" in prompts[1][-2].content
    assert "cannot be read" in prompts[1][-1].content
    assert [message.role for message in prompts[-1]] == ["system"] + 5 * ["user", "assistant"] + [
        "user"
    ]


async def test_after_three_tries_it_only_talks_and_the_person_is_told_why():
    loop = Loop(Told(once(say(BAD), say(BAD), say(BAD), say(BAD), say(GOOD), say(BAD))))
    loop.say("go")
    actions = [await loop.step() for _ in range(3)]
    assert (actions[2].content, actions[2].wait_for_response) == ("Let me.", True)
    assert "does not manage to call tools" in actions[2].notice
    loop.say("again")
    assert isinstance(await loop.step(), AgentMessageAction), "no more tries"
    loop.say("and now")
    assert isinstance(await loop.step(), CmdRunAction), "but it may still find out how"
    assert isinstance(await loop.step(), InvalidToolCallAction)
