"""What crosses between the server and the MCP process: one JSON object a line."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from .config import Transport

LINE_LIMIT = 128 * 2**20
"""Longest line that either side takes; a result may hold several images."""


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """A server to be talked to; its texts are complete, so they may hold secrets.

    Attributes
    ----------
    root
        The session's workspace, which the server is told of.
    """

    transport: Transport
    command: str = ""
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str = ""
    url: str = ""
    headers: dict[str, str] = {}
    start_timeout: float = 60.0
    root: str = ""

    def __repr__(self) -> str:
        """Tell nothing of it: it may hold secrets."""
        return f"Launch({self.transport})"


class FoundTool(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool as its server describes it: text and claims of the server's own.

    Attributes
    ----------
    schema
        Of the arguments, as `plain_schema` gives it.
    read_only, destructive, idempotent, open_world
        What the server says of it; None where it says nothing.
    """

    name: str
    title: str = ""
    description: str = ""
    schema: dict[str, Any] = {}
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


class Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part of a result.

    Attributes
    ----------
    kind
        ``text``; an ``image``; a ``resource`` that was sent along or only named; or a ``notice``
        of ours on what was left out.
    text
        What it says.
    data
        An image's bytes as base64.
    media_type, uri
        Where the server says them.
    """

    kind: Literal["text", "image", "resource", "notice"]
    text: str = ""
    data: str = ""
    media_type: str = ""
    uri: str = ""


class Open(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """To the process: start a server, or connect to it."""

    connection: int
    launch: Launch


class Close(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """To the process: end a server, or the connection to it."""

    connection: int


class Call(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """To the process: call a tool; `timeout` is in seconds."""

    call: int
    connection: int
    tool: str
    arguments: dict[str, Any]
    timeout: float


class Cancel(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """To the process: nobody waits for this call any more."""

    call: int


class Opened(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """To the server: these are its tools, at first or since they changed."""

    connection: int
    tools: list[FoundTool]
    notice: str = ""


class Ended(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """To the server: a connection did not come about, or is no more.

    Attributes
    ----------
    message
        Why, as a sentence; empty where it was closed.
    stderr
        The end of what the server wrote to its error output.
    """

    connection: int
    message: str = ""
    stderr: str = ""


class Done(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """To the server: a call was answered; `is_error` is what the server says of it."""

    call: int
    parts: list[Part]
    is_error: bool = False


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """To the server: a call was not answered."""

    call: int
    code: str
    message: str


Request = Open | Close | Call | Cancel
Answer = Opened | Ended | Done | Failed

_requests: msgspec.json.Decoder[Request] = msgspec.json.Decoder(Request)
_answers: msgspec.json.Decoder[Answer] = msgspec.json.Decoder(Answer)

read_request = _requests.decode
"""Decode a line from the server."""

read_answer = _answers.decode
"""Decode a line from the MCP process."""
