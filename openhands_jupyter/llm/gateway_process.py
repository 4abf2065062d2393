"""The model gateway process: makes the calls of one server, and ends with it.

Started by `ModelGateway` with one end of a socket pair. LiteLLM is imported in a thread, so that
requests are taken in from the first moment on.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import socket
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from ..errors import ModelError
from ..helper_process import line, serve
from .gateway_protocol import (
    LINE_LIMIT,
    Able,
    Answer,
    Ask,
    Cancel,
    Complete,
    Done,
    Drop,
    Failed,
    Piece,
    Ready,
    read_request,
)
from .kept_prompts import KeptPrompts, WholePrompt

if TYPE_CHECKING:
    from types import ModuleType


def main() -> None:
    """Serve the calls that come over the inherited socket."""
    serve(_Worker().run)


def _import_provider() -> ModuleType:
    # What it makes stays: to look through it for garbage again and again takes a fifth of the time.
    gc.disable()
    try:
        return importlib.import_module(".provider", __package__)
    finally:
        gc.freeze()
        gc.enable()


class _Worker:
    """Makes calls, several at a time, and reports on each under its number."""

    def __init__(self) -> None:
        self._calls: dict[int, asyncio.Task[None]] = {}
        self._prompts = KeptPrompts()
        self._writer: asyncio.StreamWriter
        self._provider: asyncio.Task[ModuleType]

    async def run(self, connection: socket.socket) -> None:
        reader, self._writer = await asyncio.open_connection(sock=connection, limit=LINE_LIMIT)
        self._provider = asyncio.create_task(self._load())
        while data := await reader.readline():
            match read_request(data):
                case Complete() as request:
                    prompt = self._prompts.whole(request.prompt)
                    self._begin(request.call, partial(self._complete, request, prompt))
                case Ask() as request:
                    self._begin(request.call, partial(self._ask, request))
                case Drop(prompts=numbers):
                    self._prompts.drop(numbers)
                case Cancel(call=call) if call in self._calls:
                    self._calls[call].cancel()

    async def _load(self) -> ModuleType:
        try:
            return await asyncio.to_thread(_import_provider)
        except Exception as error:
            raise ModelError(
                "model_gateway",
                f"LiteLLM could not be loaded: {error}",
                "Install openhands-jupyter again, or repair its dependency litellm.",
            ) from error
        finally:
            self._send(Ready())

    def _begin(self, call: int, work: Callable[[ModuleType], Awaitable[Answer]]) -> None:
        task = self._calls[call] = asyncio.create_task(self._answer(call, work))
        task.add_done_callback(partial(self._forget, call))

    async def _answer(self, call: int, work: Callable[[ModuleType], Awaitable[Answer]]) -> None:
        try:
            self._send(await work(await asyncio.shield(self._provider)))
        except ModelError as error:
            self._send(
                Failed(
                    call=call,
                    code=error.code,
                    message=error.message,
                    hint=error.hint,
                    retry_after=error.retry_after,
                )
            )
        except Exception as error:
            # Only the kind of a fault of ours is told: its text may hold what must stay here.
            message = f"The model gateway failed ({type(error).__name__})."
            hint = "Please report this; trying again may help."
            self._send(Failed(call=call, code="model_gateway", message=message, hint=hint))
        await self._writer.drain()

    async def _complete(
        self, request: Complete, prompt: WholePrompt, provider: ModuleType
    ) -> Answer:
        response = await provider.complete(
            request.config,
            prompt,
            lambda delta: self._send(Piece(call=request.call, delta=delta)),
        )
        return Done(call=request.call, response=response)

    async def _ask(self, request: Ask, provider: ModuleType) -> Answer:
        able = await provider.capabilities(request.config)
        return Able(call=request.call, capabilities=able)

    def _forget(self, call: int, _: asyncio.Task[None]) -> None:
        del self._calls[call]

    def _send(self, answer: Answer) -> None:
        self._writer.write(line(answer))


if __name__ == "__main__":
    main()
