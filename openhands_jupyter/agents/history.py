"""The prompt history: a session's events as messages, extended event by event."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..events import (
    Action,
    AgentMessageAction,
    AgentThinkAction,
    Event,
    FilesRestoredObservation,
    FinishAction,
    InvalidToolCallAction,
    NetworkAccessAction,
    NetworkRefusedObservation,
    ReplayObservation,
    RewindAction,
    TaskTrackingAction,
    UndoAction,
    UserMessageAction,
)
from ..llm.base import Message, ToolCall
from .context import with_context
from .images import PromptImage, Urls, image_message, images_of
from .restored import note_of_replay, note_of_restore
from .results import access_changed, refusal, result
from .tools import arguments_of

UNANSWERED = "No result: the action was not executed."
ASK_FIRST = (
    " The person sees this and can allow it: ask them to, and do not try to get there another way."
)


class _Turn:
    """One response of the model, and the results of its calls, kept together."""

    def __init__(self, response_id: str, text: str) -> None:
        self.response_id = response_id
        self.text = text
        self.calls: list[ToolCall] = []
        self.results: dict[str, str] = {}
        self.refusals: dict[str, list[str]] = {}
        self.images: list[PromptImage] = []

    def messages(self, urls: Urls | None) -> list[Message]:
        head = Message(role="assistant", content=self.text, tool_calls=self.calls)
        results = [
            Message(role="tool", tool_call_id=call.id, content=self._result(call.id))
            for call in self.calls
        ]
        if urls is None or not self.images:
            return [head, *results]
        return [head, *results, image_message(self.images, urls)]

    def _result(self, call_id: str) -> str:
        told = [self.results.get(call_id, UNANSWERED), *self.refusals.get(call_id, [])]
        return "\n".join(told)


class PromptHistory:
    """Messages of the chat protocol, rebuilt from events.

    Whatever the log holds, each call has exactly one result right after it, and the calls of one
    response stay together; providers refuse anything else.

    Attributes
    ----------
    images
        All among the results so far, oldest first; the results tell of each in words too.
    """

    def __init__(self) -> None:
        self.images: list[PromptImage] = []
        self._seen = 0
        self._entries: list[_Turn | Message] = []
        self._latest: _Turn | None = None
        self._turns: dict[int, tuple[_Turn, str]] = {}
        self._question: tuple[_Turn, str] | None = None
        self._restores: dict[int, UndoAction | RewindAction] = {}

    def extend(self, events: Sequence[Event]) -> None:
        """Take in the events that came since the last call; the list is the whole history."""
        for event in events[self._seen :]:
            self._add(event)
        self._seen = len(events)

    def messages(self, urls: Urls | None = None) -> list[Message]:
        """The history as messages, oldest first.

        Parameters
        ----------
        urls
            The images that the model is to see; None for one that sees none.
        """
        messages: list[Message] = []
        for entry in self._entries:
            if isinstance(entry, _Turn):
                messages += entry.messages(urls)
            else:
                messages.append(entry)
        return messages

    def _add(self, event: Event) -> None:
        if isinstance(event, UserMessageAction):
            self._add_user_message(event)
        elif isinstance(event, NetworkAccessAction):
            self._add_note(f"[{access_changed(event)}]")
        elif isinstance(event, UndoAction | RewindAction):
            self._restores[event.id] = event
        elif isinstance(event, FilesRestoredObservation):
            self._add_note(note_of_restore(self._restores, event, self._call_from))
        elif isinstance(event, ReplayObservation):
            self._add_note(note_of_replay(event))
        elif isinstance(event, Action) and event.source == "user":
            pass  # An earlier cell of the agent's own, run again.
        elif isinstance(event, Action):
            self._add_action(event)
        elif event.cause in self._turns:
            turn, call_id = self._turns[event.cause]
            if isinstance(event, NetworkRefusedObservation):
                turn.refusals.setdefault(call_id, []).append(_refusal(event))
                return
            turn.results[call_id] = result(event)
            self._add_images(turn, call_id, event)

    def _add_images(self, turn: _Turn, call_id: str, event: Event) -> None:
        name = next(call.name for call in turn.calls if call.id == call_id)
        for image in images_of(event):
            label = f"{name}, {image.handle}"
            shown = PromptImage(number=len(self.images), label=label, image=image)
            self.images.append(shown)
            turn.images.append(shown)

    def _add_user_message(self, event: UserMessageAction) -> None:
        """A message answers the agent's question, if it asked one with a tool call."""
        said = with_context(event.content, event.context)
        if self._question:
            turn, call_id = self._question
            turn.results[call_id] = said
            self._question = None
        else:
            self._entries.append(Message(role="user", content=said))

    def _add_note(self, text: str) -> None:
        self._entries.append(Message(role="user", content=text))

    def _call_from(self, event: int) -> ToolCall | None:
        """The first call of the agent from an event on, which may be a step's or an undo's."""
        first = min((id for id in self._turns if id >= event), default=None)
        if first is None:
            return None
        turn, call_id = self._turns[first]
        return next(call for call in turn.calls if call.id == call_id)

    def _add_action(self, event: Action) -> None:
        response_id = event.llm.response_id if event.llm else f"event-{event.id}"
        turn = self._latest
        if turn is None or turn.response_id != response_id:
            turn = self._latest = _Turn(response_id, _text(event))
            self._entries.append(turn)
        self._add_call(turn, event)

    def _add_call(self, turn: _Turn, event: Action) -> None:
        call_id = event.llm.tool_call_id if event.llm else None
        if call_id is None:
            return
        call = _call(event, call_id)
        turn.calls.append(call)
        self._turns[event.id] = (turn, call_id)
        match event:
            case AgentMessageAction():
                self._question = (turn, call_id)
            case InvalidToolCallAction():
                turn.results[call_id] = f"Error (invalid_tool_call): {event.message}"
            case AgentThinkAction() | TaskTrackingAction() | FinishAction():
                turn.results[call_id] = "Noted."


def _refusal(event: NetworkRefusedObservation) -> str:
    """What the model is told of a place that was not reached, beside what the program printed."""
    asked = event.reason == "not_listed"
    return f"[{refusal(event)}{ASK_FIRST if asked else ''}]"


def _text(event: Action) -> str:
    """What the model said beside its calls."""
    is_call = event.llm is not None and event.llm.tool_call_id is not None
    if isinstance(event, AgentMessageAction) and not is_call:
        return event.content
    return "" if isinstance(event, AgentThinkAction) else event.thought


def _call(event: Action, call_id: str) -> ToolCall:
    """The tool call that the event came from."""
    assert event.llm is not None
    known = arguments_of(event)
    if known:
        return ToolCall(id=call_id, name=known[0], arguments=known[1])
    return ToolCall(
        id=call_id,
        name=event.llm.tool_name or "unknown",
        arguments=_object_or_empty(event.llm.arguments or ""),
    )


def _object_or_empty(arguments: str) -> str:
    """`arguments` if they are a JSON object, which some providers insist on, else none."""
    try:
        return arguments if isinstance(msgspec.json.decode(arguments), dict) else "{}"
    except msgspec.DecodeError:
        return "{}"
