"""The agent's kernel in Jupyter's list of kernels, and what a person does with it there."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer, call
from session_tools import events, kernels, until
from waiting import PATIENCE, wait_until

from openhands_jupyter.events import IPythonOutputObservation
from openhands_jupyter.session import Session

LONG = "import time; open('begun', 'w').close(); time.sleep(600)"

pytestmark = [pytest.mark.sandbox, pytest.mark.usefixtures("shared_models")]


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any]) -> dict[str, Any]:
    """A server whose sessions run in bubblewrap."""
    return {**jp_server_config, "OpenHandsExtension": {"prewarm": 0, "isolation": "bubblewrap"}}


@pytest.fixture
def model(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> ModelServer:
    monkeypatch.setenv("LLM_MODEL", "openai/scripted")
    monkeypatch.setenv("LLM_BASE_URL", model_server.url)
    monkeypatch.setenv("LLM_API_KEY", "sk-test")
    return model_server


class Person:
    """What a person does with the kernels of the server."""

    def __init__(self, jp_fetch: Any) -> None:
        self._fetch = jp_fetch

    async def kernels(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads((await self._fetch("api", "kernels")).body)
        return found

    async def sessions(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads((await self._fetch("api", "sessions")).body)
        return found

    async def act(self, id: str, action: str) -> None:
        path = ("api", "kernels", id, action)
        await self._fetch(*path, method="POST", body="{}", request_timeout=PATIENCE)

    async def shut_down(self, id: str) -> None:
        await self._fetch("api", "kernels", id, method="DELETE", request_timeout=PATIENCE)


@pytest.fixture
def person(jp_fetch: Any) -> Person:
    return Person(jp_fetch)


async def run_cells(session: Session, model: ModelServer, *cells: str) -> str:
    """Let the agent run cells; what the last one put out."""
    model.play(
        *(call("run_code", code=code) for code in cells),
        call("finish", message="Done."),
    )
    last = session.send_message("Go on")
    await until(session, "finished", after=last)
    return printed(session)


def printed(session: Session) -> str:
    observation = events(session, IPythonOutputObservation)[-1]
    assert isinstance(observation, IPythonOutputObservation)
    return "".join(output.text or str(output) for output in observation.outputs)


async def test_a_person_looks_into_the_kernel_of_the_agent(
    model: ModelServer, session: Session, person: Person, console: Any
) -> None:
    assert await person.kernels() == []
    await run_cells(session, model, "answer = 42")
    (kernel,) = await person.kernels()
    assert (kernel["id"], kernel["name"]) == (session.info().kernel, "openhands-sandbox")
    (entry,) = await person.sessions()
    assert (entry["name"], entry["type"]) == ("OpenHands: A session", "console")
    assert entry["kernel"]["id"] == kernel["id"]

    one, two = await console(kernel["id"]), await console(kernel["id"])
    assert await one.execute("print(answer)") == "42\n"
    assert await two.execute("answer += 1; print(answer)") == "43\n"
    assert await run_cells(session, model, "print(answer)") == "43\n", "the agent is not deaf"
    assert await one.execute("print(answer)") == "43\n"
    logged = [event for event in events(session) if "answer += 1" in str(event)]
    assert logged == [], "what the person does is not the agent's"

    session.rename("Numbers")

    async def renamed() -> bool:
        return [entry["name"] for entry in await person.sessions()] == ["OpenHands: Numbers"]

    await wait_until(renamed)


async def test_a_person_interrupts_the_agents_cell(
    model: ModelServer, session: Session, person: Person, jp_root_dir: Path
) -> None:
    model.play(
        call("run_code", code=LONG),
        call("finish", message="Done."),
    )
    session.send_message("Go on")
    id = await kernel_of(session)
    await wait_until((jp_root_dir / "begun").exists)
    await person.act(id, "interrupt")
    await until(session, "finished")
    assert "The person interrupted the kernel." in printed(session)
    assert "KeyboardInterrupt" in printed(session)


async def test_a_person_restarts_the_kernel(
    model: ModelServer, session: Session, person: Person, console: Any
) -> None:
    await run_cells(session, model, "answer = 42")
    id = session.info().kernel
    client = await console(id)
    await person.act(id, "restart")
    assert session.info().kernel == id, "it is the same for those who look at it"
    assert await (await console(id)).execute("print('answer' in globals())") == "False\n"
    assert await client.execute("x = 7") == ""
    told = await run_cells(session, model, "print(x)")
    assert "The person restarted the kernel: its variables are gone." in told
    assert told.endswith("7\n")
    assert "restarted" not in await run_cells(session, model, "print(x)")
    assert len(kernels()) == 1


async def test_a_person_restarts_the_kernel_under_a_running_cell(
    model: ModelServer, session: Session, person: Person, jp_root_dir: Path
) -> None:
    model.play(
        call("run_code", code=LONG),
        call("run_code", code="print('well')"),
        call("finish", message="Done."),
    )
    session.send_message("Go on")
    id = await kernel_of(session)
    await wait_until((jp_root_dir / "begun").exists)
    await person.act(id, "restart")
    await until(session, "finished")
    first, second = events(session, IPythonOutputObservation)
    assert "The person restarted the kernel" in str(first)
    assert second.ok and "person" not in str(second)
    assert len(kernels()) == 1


async def test_a_person_shuts_the_kernel_down(
    model: ModelServer, session: Session, person: Person
) -> None:
    await run_cells(session, model, "answer = 42")
    await person.shut_down(session.info().kernel)
    assert await person.kernels() == [] and session.info().kernel is None
    assert kernels() == set(), "Jupyter starts no other one"
    told = await run_cells(session, model, "print('answer' in globals())")
    assert "The person shut the kernel down: its variables are gone." in told
    assert told.endswith("False\n")
    (kernel,) = await person.kernels()
    assert kernel["id"] == session.info().kernel
    (entry,) = await person.sessions()
    assert entry["kernel"]["id"] == kernel["id"]


async def test_it_leaves_the_list_with_the_kernel(
    model: ModelServer, session: Session, person: Person, services: Any
) -> None:
    await run_cells(session, model, "import os; os._exit(3)")
    await wait_until(lambda: session.info().kernel is None)
    assert await person.kernels() == []
    await run_cells(session, model, "1")
    assert len(await person.kernels()) == 1
    await services.sessions.delete(session.id)
    assert await person.kernels() == [] and await person.sessions() == []
    assert kernels() == set()


async def test_a_message_that_is_too_long_does_not_reach_the_server(
    model: ModelServer, session: Session, person: Person, console: Any
) -> None:
    await run_cells(session, model, "1")
    client = await console(session.info().kernel)
    long = await client.start("print('x' * 60_000_000)")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(client.printed(long), 5)
    # The agent's client lost what came with it, and says so once.
    assert (await run_cells(session, model, "1", "print('y')")).endswith("y\n")


async def kernel_of(session: Session) -> str:
    await wait_until(lambda: session.info().kernel is not None)
    id = session.info().kernel
    assert id is not None
    return id
