"""A model server for benchmarks: it plays endless tasks and knows what time it is.

``python timed_model.py`` prints its address. The first message of a conversation says what is
played: ``[mix 50 NAME]`` is 50 steps, ``[tokens 1000 NAME pace=0.005]`` 1000 stamped tokens. What
an agent needs between two answers is read here: from the last byte of one to that of the next
request.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.iostream import StreamClosedError
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler

STEPS: dict[str, Callable[[int], tuple[str, dict[str, Any]]]] = {
    "bash": lambda number: ("execute_bash", {"command": f"echo step {number}"}),
    "read": lambda number: ("read_file", {"path": "a.txt"}),
    "think": lambda number: ("think", {"thought": f"step {number}"}),
    "python": lambda number: ("run_code", {"code": "1+1"}),
}
TASKS = {"mix": ("bash", "read", "think"), **{name: (name,) for name in STEPS}}
PIECE = 64
"""Characters of a piece of a tool call."""

_TASK = re.compile(r"\[(\w+) (\d+) ([\w-]+)(?: pace=([\d.]+))?\]")


@dataclass
class Task:
    """A conversation, and when its requests came and its answers were out, in nanoseconds."""

    kind: str
    length: int
    pace: float
    times: list[tuple[int, int]] = field(default_factory=list)

    def answer(self) -> tuple[str, dict[str, Any]] | None:
        """The next tool call; None where only words are said."""
        number = len(self.times)
        if self.kind == "tokens":
            return None
        if number >= self.length:
            return "finish", {"message": "done"}
        steps = TASKS[self.kind]
        return STEPS[steps[number % len(steps)]](number)


class Completions(RequestHandler):
    """Plays the next step, as a stream if that is wanted."""

    def initialize(self, tasks: dict[str, Task]) -> None:
        self.tasks = tasks

    async def post(self) -> None:
        received = time.monotonic_ns()
        body = json.loads(self.request.body)
        task = self._task(body)
        call = task.answer()
        if body.get("stream"):
            with suppress(StreamClosedError):
                await self._stream(task, call, len(self.request.body) // 4)
        else:
            assert call is not None
            message = {"role": "assistant", "content": None, "tool_calls": [_call(task, call)]}
            choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
            await self.finish({**_head("chat.completion"), "choices": [choice]})
        task.times.append((received, time.monotonic_ns()))

    def _task(self, body: dict[str, Any]) -> Task:
        texts = (json.dumps(m["content"]) for m in body["messages"] if m["role"] == "user")
        found = next(match for match in map(_TASK.search, texts) if match)
        kind, length, name, pace = found.groups()
        return self.tasks.setdefault(name, Task(kind, int(length), float(pace or 0)))

    async def _stream(self, task: Task, call: tuple[str, Any] | None, tokens: int) -> None:
        self.set_header("Content-Type", "text/event-stream")
        self._event({"role": "assistant", "content": ""})
        if call is None:
            await self._tokens(task)
        else:
            made = _call(task, call)
            arguments = made["function"].pop("arguments")
            function = {**made["function"], "arguments": ""}
            self._event({"tool_calls": [{"index": 0, **made, "function": function}]})
            for start in range(0, len(arguments), PIECE):
                piece = {"arguments": arguments[start : start + PIECE]}
                self._event({"tool_calls": [{"index": 0, "function": piece}]})
        self._event({}, "tool_calls" if call else "stop")
        usage = {"prompt_tokens": tokens, "completion_tokens": 10, "total_tokens": tokens + 10}
        self._write({**_head("chat.completion.chunk"), "choices": [], "usage": usage})
        self.write(b"data: [DONE]\n\n")
        await self.finish()

    async def _tokens(self, task: Task) -> None:
        """Stamped tokens, each at its time, however long the one before took."""
        begun = time.monotonic()
        for number in range(1, task.length + 1):
            await self.flush()
            await asyncio.sleep(max(0.0, begun + number * task.pace - time.monotonic()))
            self._event({"content": f"<t:{time.monotonic_ns()}>"})
        await self.flush()
        # What is written at the very end comes with the whole message, and not as live text.
        await asyncio.sleep(0.1)

    def _event(self, delta: dict[str, Any], reason: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        self._write({**_head("chat.completion.chunk"), "choices": [choice]})

    def _write(self, data: dict[str, Any]) -> None:
        self.write(b"data: " + json.dumps(data).encode() + b"\n\n")


class Times(RequestHandler):
    """Tells the times of a conversation."""

    def initialize(self, tasks: dict[str, Task]) -> None:
        self.tasks = tasks

    def get(self, name: str) -> None:
        self.write(json.dumps(self.tasks[name].times))


def _head(kind: str) -> dict[str, Any]:
    return {"id": f"r{time.monotonic_ns()}", "object": kind, "created": 0, "model": "timed"}


def _call(task: Task, call: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    function = {"name": call[0], "arguments": json.dumps(call[1])}
    return {"id": f"call_{len(task.times)}", "type": "function", "function": function}


class TimedModel:
    """A running model server in a process of its own; `served` makes it.

    Attributes
    ----------
    url
        Its address, to be given as ``base_url``.
    """

    def __init__(self, url: str) -> None:
        self.url = url

    def gaps(self, name: str) -> list[float]:
        """Milliseconds between each answer of a conversation and the request after it."""
        address = f"{self.url.removesuffix('/v1')}/times/{name}"
        with urllib.request.urlopen(address, timeout=60) as answer:
            times = json.load(answer)
        return [(received - ended) / 1e6 for (_, ended), (received, _) in pairwise(times)]


@contextmanager
def served() -> Iterator[TimedModel]:
    """Run one in a process of its own."""
    command = [sys.executable, __file__]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield TimedModel(server.stdout.readline().strip())
        finally:
            server.terminate()


async def main() -> None:
    """Serve until the process is ended."""
    tasks: dict[str, Task] = {}
    routes: list[Any] = [
        (r"/v1/chat/completions", Completions, {"tasks": tasks}),
        (r"/times/([\w-]+)", Times, {"tasks": tasks}),
    ]
    sockets = bind_sockets(0, "127.0.0.1")
    HTTPServer(Application(routes, log_function=lambda handler: None)).add_sockets(sockets)
    print(f"http://127.0.0.1:{sockets[0].getsockname()[1]}/v1", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
