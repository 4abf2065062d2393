"""A session that is done once more: its messages, and a model that says what was said then."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from ..agents.tools import arguments_of
from ..errors import ModelError
from ..events import (
    Action,
    AgentMessageAction,
    Blob,
    Event,
    FileWriteAction,
    UserMessageAction,
)
from ..events.blobs import BlobStore
from ..events.masking import MASK
from ..events.reading import read_log
from ..llm.base import Capabilities, Delta, Message, Response, Tool, ToolCall, Usage

RECORDING_NAME = "recording"


class Asked(msgspec.Struct, kw_only=True):
    """A message of the person, and what the model answered until the next one."""

    message: str
    responses: list[Response] = []


class Recording:
    """A session's log as a language model.

    It gives the recorded responses one after the other, whatever its calls bring this time, so
    that the agent takes the same steps; what comes of them is decided anew, by the gate, the
    person and the sandbox.

    Parameters
    ----------
    asked
        What to play.
    """

    name = RECORDING_NAME

    def __init__(self, asked: Sequence[Asked]) -> None:
        self.asked = asked
        self._left: deque[Response] = deque()

    def begin(self, asked: Asked) -> None:
        """Play what followed this message; what is left of an earlier one is dropped."""
        self._left = deque(asked.responses)

    async def capabilities(self) -> Capabilities:
        """It calls tools and looks at nothing; see `LanguageModel.capabilities`."""
        return Capabilities(tool_calls=True, vision=False, reasoning=False)

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        on_delta: Callable[[Delta], None],
    ) -> Response:
        """Continue the conversation; see `LanguageModel.complete`."""
        await asyncio.sleep(0)
        if not tools:
            # No step of the agent: a condenser asks for a summary.
            return Response(id="recording", model=self.name, text="Earlier recorded steps.")
        if not self._left:
            return Response(id="recording-end", model=self.name, text="Nothing more was recorded.")
        response = self._left.popleft()
        if any(MASK in call.arguments for call in response.tool_calls):
            raise ModelError(
                "recording_masked",
                "The next step held a secret, which no log keeps.",
                "It cannot be done again.",
            )
        on_delta(Delta(kind="text", text=response.text))
        return response


def read_recording(folder: Path) -> Recording:
    """Read what was asked and answered in a session. Blocks.

    Parameters
    ----------
    folder
        The session's folder.

    Raises
    ------
    OSError, msgspec.DecodeError
        When its log cannot be read.
    """
    return Recording(recorded(read_log(folder), BlobStore(folder / "blobs")))


def recorded(events: Iterable[Event], blobs: BlobStore) -> list[Asked]:
    """What was asked and answered, from the events of a session."""
    asked: list[Asked] = []
    for event in events:
        if isinstance(event, UserMessageAction) and event.source == "user":
            if asked and not asked[-1].responses:
                # Both were answered together.
                asked[-1].message += f"\n\n{event.content}"
            else:
                asked.append(Asked(message=event.content))
        elif isinstance(event, Action) and event.source == "agent" and event.llm and asked:
            _add(asked[-1].responses, event, blobs)
    return asked


def _add(responses: list[Response], action: Action, blobs: BlobStore) -> None:
    """Add an action to the response that it comes from."""
    assert action.llm is not None
    id = f"recording-{action.llm.response_id}"
    calls = [call] if (call := _call(action, blobs)) else []
    text = action.content if isinstance(action, AgentMessageAction) and not calls else ""
    if responses and responses[-1].id == id:
        calls = responses[-1].tool_calls + calls
        text = responses[-1].text or text
        responses.pop()
    usage = Usage(cost=0.0)
    response = Response(
        id=id, model=RECORDING_NAME, text=text or action.thought, tool_calls=calls, usage=usage
    )
    responses.append(response)


def _call(action: Action, blobs: BlobStore) -> ToolCall | None:
    """The tool call that an action was; None where it was none."""
    origin = action.llm
    if origin is None or not origin.tool_name:
        return None
    if origin.arguments:
        # As the model wrote it, because it did not fit.
        name, arguments = origin.tool_name, origin.arguments
    elif known := arguments_of(_whole(action, blobs)):
        name, arguments = known
    else:
        return None
    return ToolCall(id=origin.tool_call_id or origin.response_id, name=name, arguments=arguments)


def _whole(action: Action, blobs: BlobStore) -> Action:
    """The action with what it writes; the log holds a long text beside it."""
    if isinstance(action, FileWriteAction) and isinstance(action.content, Blob):
        text = blobs.get(action.content.sha256).decode()
        return msgspec.structs.replace(action, content=text)
    return action
