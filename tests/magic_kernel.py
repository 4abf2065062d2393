"""A kernel as the magics see it: a client that is a page of JupyterLab, or none."""

from __future__ import annotations

from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from waiting import PATIENCE


class Ran:
    """What came of a cell."""

    def __init__(self, reply: dict[str, Any], messages: list[dict[str, Any]]) -> None:
        self.reply = reply
        self.status: str = reply["status"]
        self.messages = messages

    @property
    def text(self) -> str:
        """All that was printed, whether as output or as an error."""
        printed = "".join(m["content"]["text"] for m in self.of("stream"))
        parts = [printed] if printed else []
        parts += [
            m["content"]["data"]["text/plain"]
            for m in self.messages
            if m["msg_type"] in ("display_data", "execute_result", "update_display_data")
        ]
        parts += ["\n".join(m["content"]["traceback"]) for m in self.of("error")]
        return "\n".join(parts)

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The messages of a kind."""
        return [message for message in self.messages if message["msg_type"] == kind]


class Kernel:
    """A kernel as a client sees it."""

    def __init__(self, client: BlockingKernelClient) -> None:
        self.client = client

    def run(self, code: str, metadata: dict[str, Any] | None = None) -> Ran:
        """Run a cell; with metadata as JupyterLab does, without as nbconvert does."""
        return self.ended(self.start(code, metadata))

    def start(self, code: str, metadata: dict[str, Any] | None = None) -> str:
        """Send a cell; the id of the request."""
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": True,
        }
        return self.send("execute_request", content, metadata)

    def send(
        self, kind: str, content: dict[str, Any], metadata: dict[str, Any] | None = None
    ) -> str:
        """Send a message; its id."""
        message = self.client.session.msg(kind, content, metadata=metadata)
        self.client.shell_channel.send(message)
        id: str = message["header"]["msg_id"]
        return id

    def ended(self, request: str) -> Ran:
        """Wait until a request is done with."""
        messages = self._until_idle(request)
        while True:
            reply = self.client.get_shell_msg(timeout=PATIENCE)
            if reply["parent_header"].get("msg_id") == request:
                return Ran(reply["content"], messages)

    def told(self, comm: str, data: dict[str, Any], kind: str = "comm_msg") -> list[Any]:
        """Send something over a comm, as a page does; what the kernel says over it meanwhile."""
        content: dict[str, Any] = {"comm_id": comm, "data": data}
        if kind == "comm_open":
            content["target_name"] = "openhands-jupyter"
        request = self.send(kind, content)
        return self._until_idle(request)

    def _until_idle(self, request: str) -> list[Any]:
        """What the kernel publishes until it is done with a request."""
        messages = []
        while True:
            message = self.client.get_iopub_msg(timeout=PATIENCE)
            messages.append(message)
            if (
                message["msg_type"] == "status"
                and message["content"]["execution_state"] == "idle"
                and message["parent_header"].get("msg_id") == request
            ):
                return messages
