"""Model calls through real LiteLLM, in the real gateway process, over real HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest
from model_server import (
    ModelServer,
    Turn,
    Usage,
    call,
    empty,
    hang,
    malformed,
    page,
    reset,
    status,
    text,
    together,
)
from model_server.anthropic import SIGNATURE

from openhands_jupyter.errors import ModelError
from openhands_jupyter.llm.answer import LONGEST_ANSWER
from openhands_jupyter.llm.base import Delta, Message, ModelConfig, Response, Tool, ToolCall

KEY = "sk-canary-0123456789"
LONG = "A rather long answer, in many pieces. " * 10


def config_for(server: ModelServer, **changes: Any) -> ModelConfig:
    settings = {"model": "openai/scripted", "api_key": KEY, "base_url": server.url, "timeout": 20}
    return ModelConfig(**(settings | changes))


def error_of(gateway: Any, config: ModelConfig) -> ModelError:
    with pytest.raises(ModelError) as caught:
        gateway.ask(config)
    return caught.value


# Answers


def test_pieces_come_while_the_server_still_writes(
    shared_gateway: Any, model_server: ModelServer
) -> None:
    seen: list[tuple[str, str]] = []

    def on_delta(delta: Delta) -> None:
        seen.append((model_server.requests[-1].outcome, delta.text))

    # On a busy machine we may be late for what is written fast.
    for pace in (0.01, 0.1, 0.5):
        seen.clear()
        model_server.play(text(LONG).paced(pace))
        response = shared_gateway.ask(config_for(model_server), on_delta=on_delta)
        if seen[0][0] == "":
            break
    assert seen[0][0] == ""
    assert len(seen) > 10
    assert "".join(piece for _, piece in seen) == response.text == LONG


def test_reasoning_text_and_parallel_calls_are_told_apart(
    shared_gateway: Any, model_server: ModelServer
) -> None:
    commands = ("echo one", "echo two; " * 10)
    model_server.play(
        together(
            call("execute_bash", command=commands[0]).saying("Two at once.").thinking("Hm, both."),
            call("execute_bash", command=commands[1]),
        )
    )
    deltas: list[Delta] = []
    response = shared_gateway.ask(config_for(model_server), on_delta=deltas.append)
    assert response.text == "Two at once."
    assert response.reasoning == "Hm, both."
    assert response.finish_reason == "tool_calls"
    assert [json.loads(c.arguments)["command"] for c in response.tool_calls] == list(commands)
    assert len({c.id for c in response.tool_calls}) == 2
    pieces = {
        kind: "".join(delta.text for delta in deltas if delta.kind == kind)
        for kind in ("text", "reasoning", "tool_call")
    }
    assert pieces["text"] == response.text
    assert pieces["reasoning"] == response.reasoning
    assert pieces["tool_call"] == "".join(c.arguments for c in response.tool_calls)
    assert {d.tool_name for d in deltas if d.kind == "tool_call"} == {"execute_bash"}


def test_calls_without_an_index_of_their_own_are_told_apart(
    shared_gateway: Any, model_server: ModelServer
) -> None:
    model_server.play(together(call("a", x=1), call("b", y=2)).but(indexed=False))
    response = shared_gateway.ask(config_for(model_server))
    assert [(c.name, c.arguments) for c in response.tool_calls] == [
        ("a", '{"x": 1}'),
        ("b", '{"y": 2}'),
    ]


def test_the_prompt_arrives_as_the_protocol_says(
    shared_gateway: Any, model_server: ModelServer
) -> None:
    model_server.play(text("Done."))
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    messages = [
        Message(role="system", content="Be brief."),
        Message(role="user", content=[{"type": "text", "text": "Look."}, image]),
        Message(role="assistant", tool_calls=[ToolCall(id="c1", name="ls", arguments="{}")]),
        Message(role="tool", tool_call_id="c1", content="a.txt"),
    ]
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    tools = [Tool(name="ls", description="List.", parameters=schema)]
    shared_gateway.ask(config_for(model_server), messages, tools)
    [request] = model_server.requests
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body["model"] == "scripted"
    assert request.body["stream_options"] == {"include_usage": True}
    assert request.body["tools"] == [
        {
            "type": "function",
            "function": {"name": "ls", "description": "List.", "parameters": schema},
        }
    ]
    system, user, assistant, tool = request.body["messages"]
    assert (system["role"], system["content"]) == ("system", "Be brief.")
    assert user["content"][1]["image_url"]["url"] == image["image_url"]["url"]
    assert assistant["tool_calls"][0]["function"] == {"name": "ls", "arguments": "{}"}
    assert (tool["tool_call_id"], tool["content"]) == ("c1", "a.txt")


def test_which_models_see_images(shared_gateway: Any) -> None:
    def sees(model: str) -> bool | None:
        return shared_gateway.capabilities(ModelConfig(model=model)).vision

    models = ["openai/gpt-4o", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-pro"]
    assert [sees(model) for model in models] == [True] * 3
    blind = ["openai/gpt-3.5-turbo", "openai/scripted", "ollama/nobody-knows", "nonsense"]
    assert not any(map(sees, blind))


def test_what_a_model_is_able_to_comes_from_litellm_and_from_the_settings(
    shared_gateway: Any,
) -> None:
    config = ModelConfig(model="anthropic/claude-sonnet-4-5")
    found = shared_gateway.capabilities(config)
    assert (found.tool_calls, found.vision, found.reasoning, found.caching) == (True,) * 4
    assert found.window >= 200_000
    assert found.max_output >= 8192
    mine = ModelConfig(model="ollama_chat/mine", tool_calls="off", vision="on", context_window=8000)
    able = shared_gateway.capabilities(mine).overridden(mine)
    assert (able.tool_calls, able.vision, able.window) == (False, True, 8000)
    assert (able.reasoning, able.max_output) == (None, None), "unknown is not no"


def test_a_known_price_is_told_and_cached_tokens_cost_less(
    shared_gateway: Any, model_server: ModelServer
) -> None:
    costs = []
    for cached in (0, 800):
        usage = Usage(prompt_tokens=1000, completion_tokens=100, cached_tokens=cached)
        model_server.play(text("x").but(usage=usage))
        response = shared_gateway.ask(config_for(model_server, model="openai/gpt-4o"))
        assert (response.usage.prompt_tokens, response.usage.completion_tokens) == (1000, 100)
        assert response.usage.cached_tokens == cached
        costs.append(response.usage.cost)
    assert costs[0] > costs[1] > 0


def test_an_unknown_price_is_not_nothing(shared_gateway: Any, model_server: ModelServer) -> None:
    model_server.play(text("x"))
    usage = shared_gateway.ask(config_for(model_server)).usage
    assert usage.prompt_tokens == 100
    assert usage.cost is None


def test_tokens_that_nobody_reports_are_estimated(
    shared_gateway: Any, model_server: ModelServer
) -> None:
    model_server.play(text(LONG).but(usage=None))
    assert shared_gateway.ask(config_for(model_server)).usage.completion_tokens > 20


def test_malformed_arguments_pass_as_they_are(
    shared_gateway: Any, model_server: ModelServer
) -> None:
    model_server.play(malformed("execute_bash", '{"command": "ls'))
    response = shared_gateway.ask(config_for(model_server))
    assert response.tool_calls[0].arguments == '{"command": "ls'


def test_an_answer_without_an_end_is_ended(shared_gateway: Any, model_server: ModelServer) -> None:
    page = "".join(f"{number} " for number in range(100_000))
    for turn in (text(page * 8), call("x", y=page * 8)):
        model_server.play(turn.but(piece=100_000).hanging(after=30))
        response = shared_gateway.ask(config_for(model_server))
        said = response.text or response.tool_calls[0].arguments
        assert LONGEST_ANSWER <= len(said) < 2 * LONGEST_ANSWER
        assert response.finish_reason == "length"
    model_server.wait_for(lambda requests: [r.outcome for r in requests] == ["disconnected"] * 2)


def test_halves_of_characters_are_not_taken_in(
    shared_gateway: Any, model_server: ModelServer
) -> None:
    half = "a\ud83d b"
    model_server.play(
        call("x\ud83d", y="z").saying(half).thinking(half),
        malformed("x", '"\ud83d'),
        text("\U0001f600"),
    )
    config = config_for(model_server)
    response = shared_gateway.ask(config)
    assert (response.text, response.reasoning) == ("a\ufffd b",) * 2
    assert response.tool_calls[0].name == "x\ufffd"
    assert shared_gateway.ask(config).tool_calls[0].arguments == '"\ufffd'
    assert shared_gateway.ask(config).text == "\U0001f600"


def test_a_server_that_does_not_stream_is_understood(
    shared_gateway: Any, model_server: ModelServer
) -> None:
    model_server.play(
        call("execute_bash", command="ls").saying("Look.").thinking("Hm.").but(streams=False)
    )
    deltas: list[Delta] = []
    response = shared_gateway.ask(config_for(model_server), on_delta=deltas.append)
    assert (response.text, response.reasoning) == ("Look.", "Hm.")
    assert response.tool_calls[0].arguments == '{"command": "ls"}'
    assert response.usage.prompt_tokens == 100
    assert {delta.kind for delta in deltas} == {"text", "reasoning", "tool_call"}
    assert len(model_server.requests) == 1


def test_an_empty_answer_is_empty(shared_gateway: Any, model_server: ModelServer) -> None:
    model_server.play(empty())
    response = shared_gateway.ask(config_for(model_server))
    assert (response.text, response.tool_calls, response.finish_reason) == ("", [], "stop")


def test_a_server_without_a_key_needs_none(shared_gateway: Any, model_server: ModelServer) -> None:
    model_server.play(text("Hello."))
    assert shared_gateway.ask(config_for(model_server, api_key=None)).text == "Hello."


# What single providers want

CLAUDE = "anthropic/claude-sonnet-4-5"
MARK = {"type": "ephemeral"}
LS = Tool(name="ls", description="List.", parameters={"type": "object", "properties": {}})


def claude(server: ModelServer) -> ModelConfig:
    return config_for(server, model=CLAUDE, base_url=server.url.removesuffix("/v1"))


def step(number: int, response: Response | None = None) -> list[Message]:
    """A step of the agent: a call, with what the model thought before, and its result."""
    thoughts = response and {"reasoning": response.reasoning, "thinking": response.thinking}
    made = ToolCall(id=f"c{number}", name="ls", arguments="{}")
    model = response.model if response else ""
    return [
        Message(role="assistant", tool_calls=[made], model=model, **(thoughts or {})),
        Message(role="tool", tool_call_id=made.id, content=f"{number}.txt"),
    ]


START = [Message(role="system", content="Be brief."), Message(role="user", content="Look.")]


def test_claude_is_told_what_of_a_prompt_to_keep(
    shared_gateway: Any, model_server: ModelServer
) -> None:
    usage = Usage(prompt_tokens=1000, completion_tokens=10, cached_tokens=900)
    model_server.play(text("Done.").but(usage=usage))
    prompt = [*START, *step(1), *step(2)]
    response = shared_gateway.ask(claude(model_server), prompt, [LS, LS])
    assert (response.text, response.usage.cached_tokens) == ("Done.", 900)
    body = model_server.requests[0].body
    assert [tool.get("cache_control") for tool in body["tools"]] == [None, MARK]
    assert body["system"][-1]["cache_control"] == MARK
    marked = [
        (number, part["type"])
        for number, message in enumerate(body["messages"])
        for part in message["content"]
        if isinstance(part, dict) and part.get("cache_control") == MARK
    ]
    # The end of this prompt, and that of the one before.
    assert marked == [(2, "tool_result"), (4, "tool_result")]


def test_others_are_not_sent_marks(shared_gateway: Any, model_server: ModelServer) -> None:
    model_server.play(text("Done."))
    shared_gateway.ask(config_for(model_server), [*START, *step(1)], [LS])
    assert "cache_control" not in json.dumps(model_server.requests[0].body)


def test_signed_thoughts_go_back_as_they_came_and_only_to_who_signed_them(
    shared_gateway: Any, model_server: ModelServer
) -> None:
    model_server.play(call("ls").thinking("First look around, then think again."))
    config = claude(model_server)
    response = shared_gateway.ask(config, START, [LS])
    assert response.reasoning == "First look around, then think again."
    [block] = response.thinking
    assert (block.thinking, block.signature) == (response.reasoning, SIGNATURE)
    shared_gateway.ask(config, [*START, *step(1, response)], [LS])
    sent = model_server.requests[-1].body["messages"][1]["content"]
    assert [part["type"] for part in sent] == ["thinking", "tool_use"]
    assert (sent[0]["thinking"], sent[0]["signature"]) == (block.thinking, SIGNATURE)
    shared_gateway.ask(config_for(model_server), [*START, *step(1, response)], [LS])
    assert SIGNATURE not in json.dumps(model_server.requests[-1].body)


def test_unsigned_thoughts_go_back_where_the_model_wants_them(
    shared_gateway: Any, model_server: ModelServer
) -> None:
    for model, wants in (("deepseek/deepseek-reasoner", True), ("openai/scripted", False)):
        model_server.play(call("ls").thinking("Hm."))
        config = config_for(model_server, model=model)
        response = shared_gateway.ask(config, START, [LS])
        shared_gateway.ask(config, [*START, *step(1, response)], [LS])
        assistant = model_server.requests[-1].body["messages"][2]
        assert assistant.get("reasoning_content") == ("Hm." if wants else None)


def test_how_much_to_think_and_to_say_is_told(
    shared_gateway: Any, model_server: ModelServer
) -> None:
    config = config_for(
        model_server, model="openai/gpt-5-mini", max_output_tokens=900, reasoning_effort="low"
    )
    model_server.play(text("Done."))
    shared_gateway.ask(config)
    body = model_server.requests[-1].body
    assert (body["max_completion_tokens"], body["reasoning_effort"]) == (900, "low")


# Faults

REJECTED_IMAGES = [
    (400, "Invalid content type. image_url is only supported by certain models."),
    (400, "messages.1.content: Input should be a valid string"),
    (404, "No endpoints found that support image input"),
    (500, "this model is missing data required for image input"),
]


@pytest.mark.parametrize(("code", "said"), REJECTED_IMAGES)
def test_a_refused_image_is_told_from_other_faults(
    shared_gateway: Any, model_server: ModelServer, code: int, said: str
) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    codes = []
    for content in ([{"type": "text", "text": "Look."}, image], "Look."):
        model_server.play(status(code, said))
        with pytest.raises(ModelError) as caught:
            shared_gateway.ask(config_for(model_server), [Message(role="user", content=content)])
        codes.append(caught.value.code)
    assert codes[0] == "model_no_images" != codes[1]


CONTEXT = "This model's maximum context length is 8192 tokens. However you requested 9000."


@pytest.mark.parametrize(
    ("turn", "code", "says", "advises"),
    [
        (status(401, f"Incorrect key {KEY}"), "model_auth", "refused the API key", "valid key"),
        (status(403), "model_auth", "refused access", "valid key"),
        (status(404), "model_not_found", "does not know the model", "base_url"),
        (status(429, "Slow down."), "model_rate_limited", "Slow down.", "in a while"),
        (status(400, CONTEXT), "model_context", "context window", "new session"),
        (status(400, "No."), "model_bad_request", "did not accept", "another one"),
        (status(429, "insufficient_quota"), "model_quota", "this account", "billing"),
        (status(500, "Oops."), "model_unavailable", "Oops.", "Try again"),
        (status(503), "model_unavailable", "failed", "Try again"),
        (status(524), "model_unavailable", "failed", "Try again"),
        (status(410, "Gone."), "model_error", "Gone.", "Try again"),
        (reset(), "model_unreachable", "closed the connection", "base_url"),
        (text(LONG).cut(after=0), "model_unreachable", "closed the connection", "base_url"),
        (text(LONG).cut(), "model_cut_off", "broke off", "Try again"),
        (text(LONG).ending(), "model_cut_off", "broke off", "Try again"),
        (call("a", x=LONG).cut(), "model_cut_off", "broke off", "Try again"),
        (call("a", x=LONG).ending(), "model_cut_off", "broke off", "Try again"),
        (text(LONG).but(finish_reason="abort"), "model_unavailable", "gave up", "Try again"),
        (text("again " * 120).but(piece=6), "model_unavailable", "again and again", "Try again"),
        (page("<html>Welcome</html>"), "model_error", "no response of a model", "/v1"),
    ],
)
def test_a_fault_is_told_in_plain_words(
    shared_gateway: Any, model_server: ModelServer, turn: Turn, code: str, says: str, advises: str
) -> None:
    model_server.play(turn)
    error = error_of(shared_gateway, config_for(model_server))
    assert error.code == code
    assert says in error.message
    assert advises in error.hint
    assert KEY not in f"{error!r} {error.message} {error.hint}"
    assert len(model_server.requests) == 1


TOLD_IN_STREAMS = [
    ({"code": 429, "message": "Slow down."}, "model_rate_limited"),
    ({"code": "rate_limit_exceeded", "type": "tokens", "message": "Slow."}, "model_rate_limited"),
    ({"code": "insufficient_quota", "message": "Check your billing."}, "model_quota"),
    ({"type": "server_error", "code": None, "message": "Oops."}, "model_unavailable"),
    ({"code": 502, "message": "Provider disconnected"}, "model_unavailable"),
    ({"code": 400, "type": "BadRequestError", "message": CONTEXT}, "model_context"),
    ({"code": 400, "type": "BadRequestError", "message": "No."}, "model_bad_request"),
    ({"code": "invalid_api_key", "message": f"Incorrect key {KEY}"}, "model_auth"),
    ({"type": "invalid_request_error", "message": "No."}, "model_bad_request"),
    ({"message": "Something."}, "model_unavailable"),
]


@pytest.mark.parametrize(("error", "code"), TOLD_IN_STREAMS)
@pytest.mark.parametrize("after", [0, 3])
def test_an_error_in_a_stream_is_told_as_if_it_came_as_a_status(
    shared_gateway: Any, model_server: ModelServer, error: dict[str, Any], code: str, after: int
) -> None:
    model_server.play(text(LONG).failing(after, **error))
    told = error_of(shared_gateway, config_for(model_server))
    assert told.code == code
    said = f"{told.message} {told.hint}"
    assert KEY not in said
    assert "litellm" not in said and "Original exception" not in said


@pytest.mark.parametrize(
    ("kind", "message", "code"),
    [
        ("overloaded_error", "Overloaded", "model_unavailable"),
        # LiteLLM does not tell the kind; it is asked again all the same.
        ("rate_limit_error", "Too many tokens a minute", "model_unavailable"),
        ("invalid_request_error", "prompt is too long: 210 tokens > 200", "model_context"),
    ],
)
def test_an_error_in_a_stream_of_claude(
    shared_gateway: Any, model_server: ModelServer, kind: str, message: str, code: str
) -> None:
    model_server.play(text(LONG).failing(type=kind, message=message))
    told = error_of(shared_gateway, claude(model_server))
    assert told.code == code
    assert message.split(":")[0] in told.message
    assert "litellm" not in told.message and "Original exception" not in told.message


@pytest.mark.parametrize(
    ("code", "header", "low", "high"),
    [
        (429, "7", 7, 7),
        (503, "7", 7, 7),
        (500, "7", 7, 7),
        (429, "Fri, 31 Dec 2100 23:59:59 GMT", 10_000, float("inf")),
        (429, "Fri, 31 Dec 1999 23:59:59 GMT", 0, 0),
    ],
)
def test_a_provider_tells_when_to_try_again(
    shared_gateway: Any, model_server: ModelServer, code: int, header: str, low: float, high: float
) -> None:
    model_server.play(status(code, retry_after=header))
    error = error_of(shared_gateway, config_for(model_server))
    assert error.retry_after is not None
    assert low <= error.retry_after <= high


def test_a_rate_limit_without_a_time_has_none(
    shared_gateway: Any, model_server: ModelServer
) -> None:
    model_server.play(status(429))
    assert error_of(shared_gateway, config_for(model_server)).retry_after is None


@pytest.mark.parametrize(
    ("turn", "says"),
    [
        (hang(), "did not answer: nothing came for 1 seconds"),
        (text(LONG).hanging(), "did not finish its answer: nothing came"),
    ],
)
def test_silence_ends_a_call(
    shared_gateway: Any, model_server: ModelServer, turn: Turn, says: str
) -> None:
    model_server.play(turn)
    error = error_of(shared_gateway, config_for(model_server, timeout=1))
    assert error.code == "model_timeout"
    assert says in error.message
    model_server.wait_for(lambda requests: requests[0].outcome == "disconnected")


def test_an_answer_that_goes_on_is_not_cut(shared_gateway: Any, model_server: ModelServer) -> None:
    model_server.play(text(LONG).paced(0.1))
    assert shared_gateway.ask(config_for(model_server, timeout=1)).text == LONG
    [request] = model_server.requests
    assert request.ended - request.received > 1, "or this shows nothing"


@pytest.mark.parametrize(
    "model",
    ["openai/gpt-5.5", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-pro", "azure/mine"],
)
def test_a_missing_key_is_told(shared_gateway: Any, model: str) -> None:
    error = error_of(shared_gateway, ModelConfig(model=model))
    assert error.code == "model_auth"
    assert error.message == f"No API key is set for {model}."
    assert "LLM_API_KEY" in error.hint


def test_a_missing_key_that_the_server_asks_for_is_told(
    shared_gateway: Any, model_server: ModelServer
) -> None:
    model_server.play(status(401))
    error = error_of(shared_gateway, config_for(model_server, api_key=None))
    assert error.message == "No API key is set for openai/scripted."


def test_a_server_that_is_not_there_is_named(shared_gateway: Any) -> None:
    config = ModelConfig(model="openai/x", api_key=KEY, base_url="http://127.0.0.1:9/v1")
    error = error_of(shared_gateway, config)
    assert error.code == "model_unreachable"
    assert "127.0.0.1:9" in error.message
    assert "running" in error.hint and "base_url" in error.hint


@pytest.mark.parametrize(
    "address",
    ["localhost:11434", "ftp://host/v1", "http://", "http://user:secret@host/v1", "http://a:b/v1"],
)
def test_what_is_no_address_is_told(shared_gateway: Any, address: str) -> None:
    error = error_of(shared_gateway, ModelConfig(model="openai/x", base_url=address))
    assert error.code == "model_unreachable"
    assert "is not the address of a model server" in error.message
    assert "secret" not in error.message


def test_a_name_without_a_provider_is_told(shared_gateway: Any) -> None:
    error = error_of(shared_gateway, ModelConfig(model="nonsense", api_key=KEY))
    assert error.code == "model_not_found"
    assert "openai/nonsense" in error.hint
