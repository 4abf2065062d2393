"""The channels of one remote kernel, opened again when they break.

See "Messaging in Jupyter" in the documentation of jupyter_client for the messages, and
"WebSocket Kernel Connection" in that of Jupyter Server for how they come in one stream.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from json import dumps, loads
from typing import Any

from jupyter_server.services.kernels.connection.base import deserialize_binary_message
from tornado.websocket import WebSocketClientConnection, WebSocketClosedError

from .refusals import GatewayRefused
from .server import Gateway

PROTOCOL = "5.3"
AGAIN_AFTER = (0.0, 0.2, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0)
"""Seconds before each try to connect again, about as long as a request may go unanswered."""

Message = dict[str, Any]


_from_binary: Callable[[bytes], Message] = deserialize_binary_message


class KernelLost(Exception):
    """The remote kernel is gone, or there is no way to it any more."""


class KernelConnection:
    """Requests to a remote kernel, and what its cells say.

    Parameters
    ----------
    gateway
        The server.
    kernel
        The kernel's id.
    on_lost
        Called once, with a sentence on why, when the kernel cannot be used any more; not after
        `close`.

    Attributes
    ----------
    on_message
        Called with what answers no `request`: the channel, the kind, and the message. The kind
        ``lost`` means that nothing more comes for what was told before on the shell channel.
    """

    def __init__(self, gateway: Gateway, kernel: str, on_lost: Callable[[str], None]) -> None:
        self._gateway = gateway
        self._kernel = kernel
        self._on_lost = on_lost
        self._session = secrets.token_hex(16)
        self._kernels_own_session = ""
        self._socket: WebSocketClientConnection | None = None
        self._reading: asyncio.Task[None] | None = None
        self._requests: dict[str, tuple[asyncio.Future[Message], Message]] = {}
        self._unsent: list[Message] = []
        self._fences: set[str] = set()
        self._lost = False
        self.on_message: Callable[[str, str, Message], None] = lambda *_: None

    async def open(self) -> None:
        """Connect.

        Raises
        ------
        GatewayRefused
            When that cannot be done.
        """
        self._socket = await self._gateway.connect(self._kernel, self._session)
        self._reading = asyncio.create_task(self._read())

    async def request(self, channel: str, kind: str, content: Message) -> Message:
        """Ask the kernel for something; its answer.

        What is asked on the control channel is asked again where the connection breaks.

        Raises
        ------
        KernelLost
            When there will be no answer.
        """
        if self._lost:
            raise KernelLost
        message = self._message(channel, kind, content)
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        number = message["header"]["msg_id"]
        self._requests[number] = (answer, message)
        try:
            self._send(message)
            return await answer
        finally:
            self._requests.pop(number, None)

    def tell(self, channel: str, kind: str, content: Message) -> str:
        """Send what is answered, if at all, through `on_message`; the message's id."""
        message = self._message(channel, kind, content)
        self._send(message)
        return str(message["header"]["msg_id"])

    def interrupt(self) -> None:
        """Interrupt what the kernel executes.

        By a message, which is there sooner than a request to the server, for which another
        connection would have to be made first.
        """
        self._send(self._message("control", "interrupt_request", {}))

    async def probe(self) -> None:
        """Find out whether the kernel is still there: its server need not tell of its end."""
        try:
            there = await self._gateway.has(self._kernel)
        except GatewayRefused:
            # That the server cannot be reached is found out by the connection.
            return
        if there:
            # A kernel that was restarted answers with another session.
            self._send(self._message("control", "kernel_info_request", {}))
        else:
            self.lose("The remote kernel was ended by its server.")

    def lose(self, why: str) -> None:
        """Give the kernel up."""
        if self._lost:
            return
        self._lost = True
        for answer, _ in self._requests.values():
            if not answer.done():
                answer.set_exception(KernelLost())
        if self._socket is not None:
            self._socket.close()
        self._on_lost(why)

    async def close(self) -> None:
        """Hang up."""
        self._on_lost = lambda why: None
        self.lose("")
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    def _message(self, channel: str, kind: str, content: Message) -> Message:
        header = {
            "msg_id": secrets.token_hex(16),
            "msg_type": kind,
            "session": self._session,
            "username": "openhands",
            "date": datetime.now(UTC).isoformat(),
            "version": PROTOCOL,
        }
        return {
            "channel": channel,
            "header": header,
            "parent_header": {},
            "metadata": {},
            "content": content,
            "buffers": [],
        }

    def _send(self, message: Message) -> None:
        if self._socket is None:
            if message["channel"] != "control":
                self._unsent.append(message)
            return
        # It is asked again, or given up, when the connection is found to be broken.
        with contextlib.suppress(WebSocketClosedError):
            self._socket.write_message(dumps(message))

    async def _read(self) -> None:
        why = "The remote kernel said something that makes no sense, and was given up."
        try:
            while not self._lost:
                assert self._socket is not None
                data = await self._socket.read_message()
                if data is None:
                    self._socket.close()
                    self._socket = None
                    await self._connect_again()
                    continue
                self._take(loads(data) if isinstance(data, str) else _from_binary(data))
        except GatewayRefused as error:
            why = f"The connection to the remote kernel was lost: {error.message}"
        except (ValueError, KeyError, TypeError, AttributeError):
            # What is there is not trusted to be a kernel.
            pass
        finally:
            self.lose(why)

    async def _connect_again(self) -> None:
        """Connect, and find out what happened meanwhile.

        Raises
        ------
        GatewayRefused
            When it is of no use.
        """
        for seconds in AGAIN_AFTER:
            await asyncio.sleep(seconds)
            try:
                self._socket = await self._gateway.connect(self._kernel, self._session, again=True)
                break
            except GatewayRefused as error:
                refusal = error
                if error.lasting:
                    raise
        else:
            raise refusal
        # A kernel that was restarted answers with another session.
        self._send(self._message("control", "kernel_info_request", {}))
        # The shell channel answers in order: what is not answered before this was lost.
        fence = self._message("shell", "kernel_info_request", {})
        self._fences.add(fence["header"]["msg_id"])
        unsent, self._unsent = self._unsent, []
        asked = [message for _, message in self._requests.values()]
        again = [message for message in asked if message["channel"] == "control"]
        for message in (*again, *unsent, fence):
            self._send(message)

    def _take(self, message: Message) -> None:
        kind, channel = str(message["header"]["msg_type"]), str(message["channel"])
        parent = message["parent_header"].get("msg_id")
        if kind == "status" and message["content"]["execution_state"] in ("restarting", "dead"):
            self.lose("The remote kernel ended; what it and its shell had in memory is gone.")
        elif channel in ("shell", "control") and self._is_another(message):
            self.lose("The remote kernel was restarted; what it had in memory is gone.")
        elif parent in self._fences:
            if channel == "shell":
                self._fences.discard(parent)
                self.on_message(channel, "lost", message)
        elif parent in self._requests:
            answer, _ = self._requests[parent]
            if channel != "iopub" and not answer.done():
                answer.set_result(message["content"])
        else:
            self.on_message(channel, kind, message)

    def _is_another(self, message: Message) -> bool:
        """Whether another process than before has sent this."""
        session = str(message["header"]["session"])
        known, self._kernels_own_session = self._kernels_own_session or session, session
        return known != session
