"""A kernel as a page of JupyterLab sees it: through the server's WebSocket."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from uuid import uuid4

from tornado.websocket import WebSocketClientConnection
from waiting import PATIENCE


class KernelClient:
    """Executes code over the WebSocket of a kernel."""

    def __init__(self, connection: WebSocketClientConnection) -> None:
        self.connection = connection

    async def start(self, code: str) -> str:
        """Send code to execute; the id of the request."""
        id = uuid4().hex
        header = {
            "msg_id": id,
            "msg_type": "execute_request",
            "username": "",
            "session": "console",
            "version": "5.3",
        }
        content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False}
        message = {
            "header": header,
            "parent_header": {},
            "metadata": {},
            "content": content,
            "channel": "shell",
            "buffers": [],
        }
        await self.connection.write_message(json.dumps(message))
        return id

    async def printed(self, id: str) -> str:
        """What a request printed, and the name of the error that it ended with, once it is done."""
        text = ""
        while True:
            message = await self.message()
            if message["parent_header"].get("msg_id") != id:
                continue
            match message["msg_type"]:
                case "stream":
                    text += message["content"]["text"]
                case "error":
                    text += message["content"]["ename"]
                case "status" if message["content"]["execution_state"] == "idle":
                    return text

    async def execute(self, code: str) -> str:
        """Execute code; what it printed."""
        return await self.printed(await self.start(code))

    async def until_status(self, status: str) -> None:
        """Wait until the kernel, or the server for it, says this status."""
        while True:
            message = await self.message()
            if message["msg_type"] == "status" and message["content"]["execution_state"] == status:
                return

    async def message(self) -> dict[str, Any]:
        message = await asyncio.wait_for(self.connection.read_message(), PATIENCE)
        assert isinstance(message, str), "the server closed the connection"
        found: dict[str, Any] = json.loads(message)
        return found
