"""A pytest plugin: one model gateway for all tests, as loading LiteLLM takes seconds each time.

What a gateway itself does, from its start to its end, is tested with one of the test's own; and
servers in a process of their own and the command line have theirs.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any

import pytest

from openhands_jupyter.llm.base import Capabilities, Delta, Message, ModelConfig, Response, Tool
from openhands_jupyter.llm.gateway import ModelGateway


class SharedGateway:
    """A real gateway, with an event loop of its own that outlives those of the tests."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._gateway: ModelGateway = self._run(_started())

    def ask(
        self,
        config: ModelConfig,
        messages: list[Message] | None = None,
        tools: list[Tool] | None = None,
        on_delta: Callable[[Delta], None] = lambda delta: None,
    ) -> Response:
        """Make one call, and wait for it."""
        messages = messages or [Message(role="user", content="hello")]
        return self._run(self._gateway.complete(config, messages, tools or [], on_delta))

    def capabilities(self, config: ModelConfig) -> Capabilities:
        """Ask about a model, and wait for the answer."""
        return self._run(self._gateway.capabilities(config))

    def lend(self) -> LentGateway:
        """What a session manager can have in place of a gateway of its own."""
        return LentGateway(self._loop, self._gateway)

    def close(self) -> None:
        """End the process and the loop."""
        self._run(self._gateway.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=60)


class LentGateway:
    """A `ModelGateway` for one session manager, which stays when that closes it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, gateway: ModelGateway) -> None:
        self._loop = loop
        self._gateway = gateway

    @property
    def without_tools(self) -> set[tuple[str, str | None]]:
        """See `ModelGateway`."""
        return self._gateway.without_tools

    def warm(self) -> None:
        """It runs already."""

    async def complete(
        self,
        config: ModelConfig,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        on_delta: Callable[[Delta], None],
    ) -> Response:
        """Make one call; see `ModelGateway.complete`."""
        loop = asyncio.get_running_loop()

        def pass_on(delta: Delta) -> None:
            loop.call_soon_threadsafe(on_delta, delta)

        call = self._gateway.complete(config, messages, tools, pass_on)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(call, self._loop))

    async def capabilities(self, config: ModelConfig) -> Capabilities:
        """Ask about a model; see `ModelGateway.capabilities`."""
        call = self._gateway.capabilities(config)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(call, self._loop))

    async def close(self) -> None:
        """Leave it to the others; the sessions' own calls were cancelled before."""


async def _started() -> ModelGateway:
    gateway = ModelGateway()
    await gateway.start()
    return gateway


@pytest.fixture(scope="session")
def shared_gateway() -> Iterator[SharedGateway]:
    """The gateway for tests that have none of their own."""
    gateway = SharedGateway()
    yield gateway
    gateway.close()
