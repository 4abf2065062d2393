"""The base of every event: what they all carry, whatever happened."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar, Literal

import msgspec

SCHEMA_VERSION = 1

Source = Literal["user", "agent", "environment"]
RiskLevel = Literal["low", "medium", "high"]


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    """One thing that happened in a session; one JSON object, one line of the log.

    Attributes
    ----------
    v
        Version of the schema; 0 until the stream has accepted the event.
    id
        Dense integer from 0, given by the stream; -1 until then.
    session
        Id of the session that the event belongs to; given by the stream.
    time
        When the stream accepted the event, UTC.
    source
        Who made it: the person, the agent, or the environment (sandbox, controller); if not
        given, the stream fills in who usually makes such an event.
    cause
        Id of the event that this one answers or follows from.
    agent_path
        Of what a delegate does, and what answers it: ids of the `AgentDelegateAction`s that led to
        the delegate, the first one first.
    """

    v: int = 0
    id: int = -1
    session: str = ""
    time: datetime | None = None
    source: Source | None = None
    # Made by a factory, so that "no cause" stands on the line too.
    cause: int | None = msgspec.field(default_factory=lambda: None)
    agent_path: list[int] = []

    usual_source: ClassVar[Source] = "environment"


class ThinkingBlock(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A piece of a model's reasoning as its provider signed it.

    Some providers insist on having it back unchanged, before the calls that it led to. Source: the
    documentation of Anthropic's API, "Extended thinking" with tool use.

    Attributes
    ----------
    thinking, signature
        The text, and the provider's signature under it.
    data
        Reasoning that only the provider can read; the others are empty then.
    """

    thinking: str = ""
    signature: str = ""
    data: str = ""


class ModelCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which model response an agent's event came from, enough to rebuild the prompt history.

    Attributes
    ----------
    response_id
        Id of the model's response. Events of one response share it and are kept together.
    model
        Name of the model as configured.
    tool_call_id
        The provider's id of the tool call, if the event came from one.
    tool_name
        Name of the tool that the model called.
    arguments
        The arguments as the model wrote them (JSON text), kept only where the action cannot tell
        them, as with a malformed call.
    reasoning
        What the model thought before it answered, on the first event of a response.
    thinking
        The same in signed blocks, where the provider signs it; on the first event too.
    """

    response_id: str
    model: str = ""
    tool_call_id: str | None = None
    tool_name: str | None = None
    arguments: str | None = None
    reasoning: str = ""
    thinking: list[ThinkingBlock] = []


class Risk(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How risky an action is held to be, and why.

    Attributes
    ----------
    level
        ``low``, ``medium`` or ``high``.
    reasons
        One sentence each, for the person who has to decide.
    """

    level: RiskLevel
    reasons: list[str] = []


class Action(Event, frozen=True, kw_only=True):
    """Something that the person or the agent wants to happen.

    Attributes
    ----------
    thought
        What the model said along with the action.
    llm
        The model response that the action came from.
    risk
        The gate's assessment; only on actions that the gate looked at.
    """

    usual_source: ClassVar[Source] = "agent"
    runnable: ClassVar[bool] = False
    """Whether the runtime executes it, so that exactly one observation answers it."""
    changes_files: ClassVar[bool] = True
    """Whether the runtime, executing it, may change files of the workspace."""

    thought: str = ""
    llm: ModelCall | None = None
    risk: Risk | None = None


class Observation(Event, frozen=True, kw_only=True):
    """What came of an action (its ``cause``), or what happened in the environment."""


class Blob(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="Blob"):
    """A payload kept beside the log because it is large or binary.

    Attributes
    ----------
    sha256
        Hex digest of the content, which is also its file name under ``blobs/``.
    media_type
        Such as ``image/png`` or ``text/plain``.
    size
        Bytes.
    preview
        The beginning and the end of a text, the cut said; empty for anything else.
    """

    sha256: str
    media_type: str
    size: int
    preview: str = ""


class ShownImage(msgspec.Struct, frozen=True, kw_only=True):
    """An image that goes along with a text, for models that see images.

    Attributes
    ----------
    handle
        What the text calls it, such as ``out:c0ffee11/0``.
    blob
        Its bytes, as they were displayed.
    """

    handle: str
    blob: Blob


class OpaqueEvent(Event, frozen=True, kw_only=True, tag="OpaqueEvent"):
    """An event of a type that this version does not know, kept as it was written.

    Attributes
    ----------
    raw
        The whole JSON object.
    """

    raw: dict[str, Any] = {}
