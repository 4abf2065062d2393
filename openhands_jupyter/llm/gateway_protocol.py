"""What crosses between the server and the model gateway process: one JSON object a line."""

from __future__ import annotations

import msgspec

from .base import Capabilities, Delta, Message, ModelConfig, Response, Tool

LINE_LIMIT = 256 * 2**20
"""Longest line that either side takes; a prompt may hold many images."""


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt, or what is new of one that goes on from one that was sent before.

    Attributes
    ----------
    number
        What it is kept under; it takes the place of the one before.
    kept
        How many messages of that stay, from the first one on.
    messages
        Those that follow.
    tools
        None for the same as before.
    """

    number: int
    kept: int
    messages: list[Message]
    tools: list[Tool] | None


class Complete(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """To the gateway: continue a conversation. The only line that carries a key."""

    call: int
    config: ModelConfig
    prompt: Prompt


class Drop(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """To the gateway: these prompts need be kept no more."""

    prompts: list[int]


class Ask(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """To the gateway: tell what a model is able to; without its key."""

    call: int
    config: ModelConfig


class Cancel(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """To the gateway: nobody waits for this call any more."""

    call: int


class Ready(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """To the server: the model library is loaded; calls that came before are now made."""


class Piece(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """To the server: a piece of a response."""

    call: int
    delta: Delta


class Done(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """To the server: a call succeeded."""

    call: int
    response: Response


class Able(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """To the server: what a model is able to."""

    call: int
    capabilities: Capabilities


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """To the server: a call failed; the rest is as in `ModelError`."""

    call: int
    code: str
    message: str
    hint: str = ""
    retry_after: float | None = None


Request = Complete | Drop | Ask | Cancel
Answer = Ready | Piece | Done | Able | Failed

_requests: msgspec.json.Decoder[Request] = msgspec.json.Decoder(Request)
_answers: msgspec.json.Decoder[Answer] = msgspec.json.Decoder(Answer)

read_request = _requests.decode
"""Decode a line from the server."""

read_answer = _answers.decode
"""Decode a line from the gateway."""
