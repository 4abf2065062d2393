"""A session's model: asked again while it fails, then others; over real LiteLLM and real HTTP."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer, Turn, call, empty, page, reset, status, text
from session_tools import SECRET, events, until
from shared_gateway import SharedGateway

from openhands_jupyter.config import Config
from openhands_jupyter.controller.log import Log
from openhands_jupyter.controller.retrying import LONGEST_PAUSE, pause_before_retry
from openhands_jupyter.errors import ModelError
from openhands_jupyter.events import (
    AgentMessageAction,
    AgentStateChangedObservation,
    ChangeAgentStateAction,
    ChangeSettingsAction,
    Event,
    EventStream,
    ModelNoticeObservation,
    ModelUsageObservation,
    State,
)
from openhands_jupyter.llm.base import Delta, Message, Response
from openhands_jupyter.llm.gateway import GatewayModel
from openhands_jupyter.session.model import SessionModel, SummaryModel

ASK = [Message(role="user", content="hello")]
LONG = "A rather long answer, in many pieces. " * 10
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
LOOK = [Message(role="user", content=[{"type": "text", "text": "Look."}, IMAGE])]


class Bench:
    """A session's model with its log, and without the rest of a session."""

    def __init__(self, folder: Path, config: Config, gateway: Any) -> None:
        self.stream = EventStream(folder)
        self.state = State()
        self.stream.add_listener(self.state.apply)
        self.stream.append(ChangeSettingsAction(model="openai/scripted"))
        self.stream.append(AgentStateChangedObservation(state="running"))
        self.model = SessionModel(
            Log(self.stream, self.state),
            lambda name: GatewayModel(gateway, config.model_config(name)),
            config,
        )
        self.deltas: list[Delta] = []

    async def ask(self, messages: list[Message] = ASK) -> Response:
        return await self.model.complete(messages, [], self.deltas.append)

    async def until_waiting(self) -> AgentStateChangedObservation:
        return await until(self, "rate_limited")

    def told(self, kind: type[Event]) -> list[Any]:
        return events(self, kind)

    @property
    def waits(self) -> list[AgentStateChangedObservation]:
        changes = self.told(AgentStateChangedObservation)
        return [change for change in changes if change.state == "rate_limited"]

    @property
    def notices(self) -> list[tuple[str, str]]:
        return [(notice.code, notice.model) for notice in self.told(ModelNoticeObservation)]


@pytest.fixture
def bench(
    tmp_path: Path, model_server: ModelServer, shared_gateway: SharedGateway
) -> Callable[..., Any]:
    @asynccontextmanager
    async def open_bench(**settings: Any) -> AsyncIterator[Bench]:
        environ = {
            "OPENHANDS_HOME": str(tmp_path / "home"),
            "LLM_MODEL": "openai/scripted",
            "LLM_BASE_URL": model_server.url,
            "LLM_API_KEY": SECRET,
        }
        config = Config(tmp_path, None, settings, environ)
        made = Bench(tmp_path / f"session-{time.monotonic_ns()}", config, shared_gateway.lend())
        try:
            yield made
        finally:
            await made.stream.close()

    return open_bench


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits of no length, where their number is what a test is about."""
    monkeypatch.setattr("openhands_jupyter.controller.retrying.random.uniform", lambda a, b: 0.0)


FOR_THE_MOMENT = [
    ("model_rate_limited", status(429, "Slow down.", retry_after="0.1")),
    ("model_rate_limited", status(429)),
    ("model_unavailable", status(500)),
    ("model_unavailable", status(503, retry_after="0.1")),
    ("model_unreachable", reset()),
    ("model_cut_off", text(LONG).cut()),
    ("model_rate_limited", text(LONG).failing(code=429, message="Slow down.")),
    ("model_unavailable", call("execute_bash", command=LONG).failing(message="Overloaded.")),
    ("model_cut_off", call("execute_bash", command=LONG).cut()),
]


async def test_what_fails_for_the_moment_is_asked_again(bench, model_server, at_once):
    model_server.play(*(turn for _, turn in FOR_THE_MOMENT), text("At last."))
    async with bench(model_retries=10) as b:
        response = await b.ask()
    assert response.text == "At last."
    assert [wait.code for wait in b.waits] == [code for code, _ in FOR_THE_MOMENT]
    assert all(wait.reason and wait.retry_in is not None for wait in b.waits)
    assert b.state.agent_state == "running"
    assert len(model_server.requests) == len(FOR_THE_MOMENT) + 1
    # What was written of an answer that broke off is taken back.
    last = max(n for n, delta in enumerate(b.deltas) if delta.kind == "void")
    assert "".join(delta.text for delta in b.deltas[last:]) == "At last."
    assert b.notices == []


FOR_GOOD = [
    ("model_auth", status(401, "Incorrect key.")),
    ("model_not_found", status(404)),
    ("model_quota", status(429, "You exceeded your current quota, check your billing.")),
    ("model_error", page("<html>Welcome</html>")),
    ("model_bad_request", status(400, "No.")),
    ("model_auth", text(LONG).failing(code="invalid_api_key", message="Incorrect key.")),
    ("model_rate_limited", status(429, retry_after="700")),
]


@pytest.mark.parametrize(("code", "turn"), FOR_GOOD)
async def test_what_fails_for_good_is_not(bench, model_server, code: str, turn: Turn):
    model_server.play(turn)
    async with bench() as b:
        with pytest.raises(ModelError) as caught:
            await b.ask()
    assert caught.value.code == code
    assert SECRET not in caught.value.message
    assert (b.waits, len(model_server.requests)) == ([], 1)


async def test_an_empty_answer_is_the_agents_business(bench, model_server):
    model_server.play(empty())
    async with bench() as b:
        assert (await b.ask()).text == ""


async def test_a_wait_is_as_long_as_the_provider_wants_and_can_be_cut_short(bench, model_server):
    model_server.play(
        status(429, "Slow down.", retry_after="100"),
        status(429, "Slow down.", retry_after="100"),
        text("Now."),
    )
    async with bench() as b:
        asking = asyncio.create_task(b.ask())
        waiting = await b.until_waiting()
        assert 100 <= waiting.retry_in <= 110
        assert "Slow down." in waiting.reason
        b.stream.append(ChangeAgentStateAction(command="run"))
        second = await until(b, "rate_limited", after=waiting.id)
        assert len(model_server.requests) == 2
        # Another model is an answer too.
        b.stream.append(ChangeSettingsAction(model="openai/other"))
        assert (await asking).text == "Now."
        assert b.state.agent_state == "running"
        assert second.id < b.state.last_id
    assert [r.body["model"] for r in model_server.requests] == ["scripted", "scripted", "other"]


async def test_silence_is_tried_once_more(bench, model_server, at_once):
    model_server.play(text(LONG).hanging(), text(LONG).hanging(), text("too late"))
    async with bench(model_timeout=0.5) as b:
        with pytest.raises(ModelError) as caught:
            await b.ask()
    assert caught.value.code == "model_timeout"
    assert len(model_server.requests) == 2


async def test_others_answer_in_order_and_their_failures_are_told(bench, model_server, at_once):
    model_server.play(
        status(401), status(500), status(500), text("third"), text("third again"), text("back")
    )
    async with bench(model_retries=1, fallback_models=["openai/second", "openai/third"]) as b:
        response = await b.ask()
        assert (response.text, response.model) == ("third", "openai/third")
        assert b.notices == [
            ("model_auth", "openai/second"),
            ("model_unavailable", "openai/third"),
        ]
        # What failed a moment ago is not asked first again.
        assert (await b.ask()).text == "third again"
        b.model._rests_until.clear()
        assert (await b.ask()).text == "back"
        assert b.notices[2:] == [("model_back", "openai/scripted")]
    asked = [request.body["model"] for request in model_server.requests]
    assert asked == ["scripted", "second", "second", "third", "third", "scripted"]


async def test_a_chain_that_is_exhausted_fails_with_its_last_fault(bench, model_server, at_once):
    model_server.play(status(401), status(404))
    async with bench(fallback_models=["openai/second"]) as b:
        with pytest.raises(ModelError) as caught:
            await b.ask()
    assert caught.value.code == "model_not_found"
    assert b.notices == [("model_auth", "openai/second")]


async def test_images_that_are_refused_are_words_from_then_on(bench, model_server):
    model_server.play(status(400, "This model does not support image input."), text("I see."))
    async with bench(vision="on") as b:
        assert (await b.model.capabilities()).vision
        assert (await b.ask(LOOK)).text == "I see."
        assert not (await b.model.capabilities()).vision
        assert b.notices == [("model_no_images", "openai/scripted")]
    first, second = (request.body["messages"][0]["content"] for request in model_server.requests)
    assert [part["type"] for part in first] == ["text", "image_url"]
    assert [part["type"] for part in second] == ["text", "text"]


async def test_a_small_window_is_warned_about_once_with_what_to_change(bench, model_server):
    model_server.play(text("1"), text("2"))
    async with bench(context_window=4096) as b:
        await b.ask()
        await b.ask()
        [notice] = b.told(ModelNoticeObservation)
    assert notice.code == "small_window"
    assert "4096" in notice.message
    assert "context_window" in notice.hint


async def test_waits_grow_and_are_never_shorter_than_the_provider_wants():
    def pauses(retry_after: float | None, attempt: int) -> list[float]:
        error = ModelError("model_rate_limited", "Busy.", retry_after=retry_after)
        made = [pause_before_retry(error, attempt, 9) for _ in range(100)]
        assert len(set(made)) > 1, "all come back at the same time"
        return [pause for pause in made if pause is not None]

    assert min(pauses(None, 5)) > max(pauses(None, 2)) > 0
    assert max(pauses(None, 8)) <= LONGEST_PAUSE
    assert min(pauses(7.0, 0)) >= 7.0


async def test_the_person_sees_the_wait_stops_it_and_goes_on(manager, model_server):
    """In a whole session: the wait, stop, run while it waits, and which model answered."""
    model_server.play(
        status(429, retry_after="100"), status(429, retry_after="100"), text("Hello.")
    )
    async with manager() as sessions:
        session = await sessions.create()
        session.send_message("go")
        await until(session, "rate_limited")
        stop = session.command("stop")
        await until(session, "stopped", after=stop)
        run = session.command("run")
        await until(session, "rate_limited", after=run)
        hurry = session.command("run")
        await until(session, "awaiting_user_input", after=hurry)
        [answer] = events(session, AgentMessageAction)
        [usage] = events(session, ModelUsageObservation)
        assert (answer.llm.model, usage.model, usage.caller) == (
            "openai/scripted",
            "openai/scripted",
            "agent",
        )


async def test_summaries_are_written_by_the_model_for_them_or_by_the_session_s(bench, model_server):
    model_server.play(text("A summary."), status(401, "No."), text("By another."), text("Again."))
    async with bench(condenser_model="openai/sums-up", model_retries=0) as b:
        summarizer = SummaryModel(b.model._log, b.model._resolve, b.model._config)
        for said in ("A summary.", "By another.", "Again."):
            response = await summarizer.complete(ASK, [], b.deltas.append)
            assert response.text == said
        assert b.notices == [("model_auth", "openai/scripted")]
    asked = [request.body["model"] for request in model_server.requests]
    assert asked == ["sums-up", "sums-up", "scripted", "scripted"]
