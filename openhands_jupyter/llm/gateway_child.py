"""The server's end of one model gateway process."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

import msgspec

from ..errors import ModelError
from ..helper_process import HelperProcess, line, without_secrets
from .base import Capabilities, Delta, Message, ModelConfig, Response, Tool
from .gateway_protocol import (
    LINE_LIMIT,
    Able,
    Ask,
    Cancel,
    Complete,
    Done,
    Drop,
    Failed,
    Piece,
    Ready,
    Request,
    read_answer,
)
from .kept_prompts import SentPrompts

_MODULE = "openhands_jupyter.llm.gateway_process"
SETTINGS = {
    # Prices and headers come with the package instead of from the network.
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    # In the other mode LiteLLM reads keys from a file .env of the current folder.
    "LITELLM_MODE": "PRODUCTION",
    "LITELLM_LOG": "ERROR",
}


def failure(what: str) -> ModelError:
    """Build the error of a call whose process failed."""
    return ModelError(
        "model_gateway", f"The model gateway {what}.", "Try again; it is started anew."
    )


class GatewayChild:
    """A running model gateway process, and the calls that it makes.

    Attributes
    ----------
    ready
        Set once calls are made, or never will be.
    """

    _process: HelperProcess

    def __init__(self) -> None:
        self.ready = asyncio.Event()
        self._numbers = count()
        self._prompts = SentPrompts()
        self._calls: dict[int, tuple[asyncio.Future[Any], Callable[[Delta], None]]] = {}

    @classmethod
    async def start(cls) -> GatewayChild:
        """Start a process.

        Raises
        ------
        ModelError
            When the system refuses to.
        """
        child = cls()
        try:
            child._process = await HelperProcess.start(
                _MODULE, environment(), LINE_LIMIT, child._take, child._ended
            )
        except OSError as error:
            raise failure(f"could not be started: {error.strerror}") from error
        return child

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether calls can be handed over."""
        return self._process.alive

    @contextmanager
    def call(
        self,
        config: ModelConfig,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        on_delta: Callable[[Delta], None],
    ) -> Iterator[asyncio.Future[Response]]:
        """Hand over a call; leaving the context before its end cancels it."""
        prompt = self._prompts.next(messages, tools)
        request = Complete(call=next(self._numbers), config=config, prompt=prompt)
        data = line(request)
        dropped = self._prompts.note(prompt, messages, tools, len(data))
        with self._handed_over(request.call, data, on_delta) as answer:
            if dropped:
                self._send(Drop(prompts=dropped))
            yield answer

    @contextmanager
    def ask(self, config: ModelConfig) -> Iterator[asyncio.Future[Capabilities]]:
        """Ask what a model is able to do."""
        config = msgspec.structs.replace(config, api_key=None)
        request = Ask(call=next(self._numbers), config=config)
        with self._handed_over(request.call, line(request)) as answer:
            yield answer

    @contextmanager
    def _handed_over(
        self, number: int, data: bytes, on_delta: Callable[[Delta], None] = lambda delta: None
    ) -> Iterator[asyncio.Future[Any]]:
        answer = asyncio.get_running_loop().create_future()
        self._calls[number] = (answer, on_delta)
        self._process.send(data)
        try:
            yield answer
        finally:
            del self._calls[number]
            if not answer.done() or answer.cancelled():
                self._send(Cancel(call=number))

    def kill(self) -> None:
        """End the process and all that it started, at once."""
        self._process.kill()

    async def close(self) -> None:
        """End the process; calls in flight fail."""
        await self._process.close()

    def _send(self, request: Request) -> None:
        self._process.send(line(request))

    def _ended(self, status: int) -> None:
        how = f"was ended by {signal.Signals(-status).name}" if status < 0 else "ended by itself"
        for answer, _ in self._calls.values():
            if not answer.done():
                answer.set_exception(failure(how))
        self.ready.set()

    def _take(self, data: bytes) -> None:
        message = read_answer(data)
        if isinstance(message, Ready):
            self.ready.set()
            return
        answer, on_delta = self._calls.get(message.call, (None, None))
        if answer is None or on_delta is None or answer.done():
            return
        match message:
            case Piece(delta=delta):
                try:
                    on_delta(delta)
                except Exception as error:
                    answer.set_exception(error)
                    self._send(Cancel(call=message.call))
            case Done(response=response):
                answer.set_result(response)
            case Able(capabilities=capabilities):
                answer.set_result(capabilities)
            case Failed():
                answer.set_exception(_error(message))


def _error(failed: Failed) -> ModelError:
    return ModelError(failed.code, failed.message, failed.hint, failed.retry_after)


def environment() -> dict[str, str]:
    """What the process gets: keys cross the socket, call by call."""
    kept = without_secrets()
    # Without compiled modules every import of LiteLLM costs several times as much.
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    return kept | SETTINGS
