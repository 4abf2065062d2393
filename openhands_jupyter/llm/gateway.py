"""The model gateway: one process per server that makes the calls to the providers of models.

LiteLLM takes seconds and much memory to import and runs code of many providers. In a process of its
own it neither blocks the server's event loop nor takes the server along when it hangs or crashes.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from ..errors import ModelError
from . import prompted
from .base import Capabilities, Delta, Message, ModelConfig, Response, Tool
from .gateway_child import GatewayChild, failure

IDLE_SECONDS = 15 * 60.0

_LOADING_LIMIT = 300.0
"""Seconds that loading LiteLLM may take on a slow machine."""

_ASKING_LIMIT = 30.0
"""Seconds that finding something out about a model may take."""

_GRACE = 15.0
"""Seconds beyond a call's own timeout after which the process is taken to hang."""

_KNOWN_FOR = 60.0
"""Seconds that what a model is able to do counts as known: a server may load another one."""

T = TypeVar("T")


class ModelGateway:
    """Makes model calls in a child process, which it starts when needed.

    Parameters
    ----------
    idle_seconds
        Time without a call after which the process is ended.

    Attributes
    ----------
    without_tools
        Models, and their addresses, whose servers said that they can be given no tools.
    """

    def __init__(self, idle_seconds: float = IDLE_SECONDS) -> None:
        self._idle_seconds = idle_seconds
        self._child: GatewayChild | None = None
        self._starting = asyncio.Lock()
        self.without_tools: set[tuple[str, str | None]] = set()
        self._calls = 0
        self._known: dict[tuple[str, str | None], tuple[float, Capabilities]] = {}
        self._idle_timer: asyncio.TimerHandle | None = None
        self._background: set[asyncio.Task[None]] = set()

    @property
    def pid(self) -> int | None:
        """The process that makes the calls; None if none runs."""
        return self._child.pid if self._child and self._child.alive else None

    async def start(self) -> None:
        """Start the process unless it runs; it then loads LiteLLM by itself.

        Raises
        ------
        ModelError
            With code ``model_gateway``, when it could not be started.
        """
        await self._running()
        self._watch_idleness()

    def warm(self) -> None:
        """Start the process in the background, so that the first call need not wait for it."""
        self._in_background(self._try_to_start())

    async def complete(
        self,
        config: ModelConfig,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        on_delta: Callable[[Delta], None],
    ) -> Response:
        """Make one call; see `LanguageModel.complete`.

        Parameters
        ----------
        config
            The model to call, and how.
        """
        patience = _Patience(config.timeout + _GRACE)

        def pass_on(delta: Delta) -> None:
            patience.begin_again()
            on_delta(delta)

        async with self._used() as child:
            with child.call(config, messages, tools, pass_on) as answer:
                return await self._answer(child, answer, patience)

    async def capabilities(self, config: ModelConfig) -> Capabilities:
        """Find out what a model is able to do, whatever is configured of it."""
        place = (config.model, config.base_url)
        since, found = self._known.get(place, (-math.inf, Capabilities()))
        if time.monotonic() - since > _KNOWN_FOR:
            async with self._used() as child:
                with child.ask(config) as answer:
                    found = await self._answer(child, answer, _Patience(_ASKING_LIMIT))
            self._known[place] = (time.monotonic(), found)
        return found

    async def close(self) -> None:
        """End the process; calls in flight fail."""
        if self._idle_timer:
            self._idle_timer.cancel()
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        async with self._starting:
            child, self._child = self._child, None
            if child:
                await child.close()

    async def _running(self) -> GatewayChild:
        async with self._starting:
            if self._child is None or not self._child.alive:
                if self._child:
                    await self._child.close()
                self._child = await GatewayChild.start()
            return self._child

    @asynccontextmanager
    async def _used(self) -> AsyncIterator[GatewayChild]:
        """The running process, which is not idle meanwhile."""
        self._calls += 1
        try:
            yield await self._running()
        finally:
            self._calls -= 1
            self._watch_idleness()

    async def _answer(
        self, child: GatewayChild, answer: asyncio.Future[T], patience: _Patience
    ) -> T:
        try:
            async with asyncio.timeout(_LOADING_LIMIT):
                await child.ready.wait()
            async with patience.limit:
                patience.begin_again()
                return await answer
        except TimeoutError:
            child.kill()
            raise failure("did not answer any more and was ended") from None

    async def _try_to_start(self) -> None:
        try:
            await self.start()
        except ModelError:
            # The first call tries again, and tells.
            return

    def _watch_idleness(self) -> None:
        if self._idle_timer:
            self._idle_timer.cancel()
        if self._calls == 0 and self._child:
            loop = asyncio.get_running_loop()
            self._idle_timer = loop.call_later(self._idle_seconds, self._end_if_idle)

    def _end_if_idle(self) -> None:
        if self._calls == 0 and self._child:
            child, self._child = self._child, None
            self._in_background(child.close())

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


class _Patience:
    """How long the process may be silent about a call."""

    def __init__(self, seconds: float) -> None:
        self.limit = asyncio.timeout(None)
        self._seconds = seconds

    def begin_again(self) -> None:
        self.limit.reschedule(asyncio.get_running_loop().time() + self._seconds)


class GatewayModel:
    """A language model behind the model gateway.

    Parameters
    ----------
    gateway
        The server's gateway.
    config
        The model, and how to reach it.
    """

    def __init__(self, gateway: ModelGateway, config: ModelConfig) -> None:
        self.name = config.model
        self._gateway = gateway
        self._config = config

    async def capabilities(self) -> Capabilities:
        """What it is able to do, as it is configured; see `LanguageModel.capabilities`."""
        return (await self._gateway.capabilities(self._config)).overridden(self._config)

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        on_delta: Callable[[Delta], None],
    ) -> Response:
        """Continue the conversation; see `LanguageModel.complete`.

        A model that calls no tools is told of them in words, also one of which only its server
        knows that.
        """
        if await self._calls_tools():
            try:
                return await self._complete(messages, tools, on_delta)
            except ModelError as error:
                asked = tools and self._config.tool_calls == "auto"
                if not asked or not prompted.refuses_tools(error.message):
                    raise
            self._gateway.without_tools.add(self._place)
        return await prompted.complete(self._complete, messages, tools, on_delta)

    async def _calls_tools(self) -> bool:
        if self._place in self._gateway.without_tools:
            return False
        return (await self.capabilities()).tool_calls is not False

    @property
    def _place(self) -> tuple[str, str | None]:
        return self._config.model, self._config.base_url

    async def _complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        on_delta: Callable[[Delta], None],
    ) -> Response:
        return await self._gateway.complete(self._config, messages, tools, on_delta)
