"""The prompt history: a session's events as messages, extended event by event."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import get_args

from ..events import (
    Action,
    AgentDelegateAction,
    AgentMessageAction,
    AgentThinkAction,
    CondensationAction,
    Event,
    FilesRestoredObservation,
    FinishAction,
    HookObservation,
    InvalidToolCallAction,
    LimitWarningObservation,
    NetworkAccessAction,
    NetworkRefusedObservation,
    QuarantineAction,
    ReplayObservation,
    RewindAction,
    SkillObservation,
    SkillsObservation,
    StuckObservation,
    TaskTrackingAction,
    UndoAction,
    UserMessageAction,
)
from ..events.blobs import cut
from ..llm.arguments import decoded, plain_name
from ..llm.base import Message, ToolCall
from .context import with_context
from .entries import UNANSWERED, Call, Condensed, Entry, Said, Shown, Turn, size_of
from .images import PromptImage, Urls, images_of
from .restored import note_of_replay, note_of_restore
from .results import LIMIT, access_changed, refusal, result
from .skills.telling import note_of_listing, note_of_skill
from .tools import arguments_of
from .warnings import KEPT_BACK, note_of_hook, note_of_limit, note_of_loop

__all__ = ["UNANSWERED", "PromptHistory"]

ASK_FIRST = (
    " The person sees this and can allow it: ask them to, and do not try to get there another way."
)
SHOWN = get_args(Shown)
RESULT_LIMIT = LIMIT + 10_000
"""Characters of what one action is told to have given, whatever that consists of."""

MESSAGE_LIMIT = 200_000
"""Characters of one message of the person."""

REPLY_LIMIT = 4_000
"""Characters of a reply of the model that could not be read, as it is shown to it again."""


class PromptHistory:
    """Messages of the chat protocol, rebuilt from events.

    Whatever the log holds, each call has exactly one result right after it, and the calls of one
    response stay together; providers refuse anything else. What was built once is kept, so that
    a step costs what is new in it.

    Attributes
    ----------
    entries
        What the messages are made from, oldest first.
    images
        All among the results so far that are still told of, oldest first; the results tell of each
        in words too.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.images: list[PromptImage] = []
        self._seen = 0
        self._image_turns: dict[int, Turn] = {}
        self._latest: Turn | None = None
        self._parts: dict[int, Call | Said] = {}
        self._call_ids: dict[str, int] = {}
        self._question: Call | None = None
        self._restores: dict[int, UndoAction | RewindAction] = {}
        self._built: list[Message] = []
        self._starts: list[int] = []
        self._sizes: list[int] = []
        self._size = 0
        self._urls: Urls | None = None

    # As a prompt has it

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
        self._note_views(urls)
        self._build()
        return list(self._built)

    def messages_without(self, ids: Collection[int], only_images: bool) -> list[Message]:
        """The history as it would be if some items were refused, built with no trace."""
        parts = [part for part in map(self.part, ids) if part]
        before = [part.shown for part in parts]
        try:
            for part in parts:
                shown: Shown = "without_images" if only_images else "refused"
                part.shown = max(part.shown, shown, key=SHOWN.index)
            return [m for entry in self.entries for m in entry.messages(self._urls)]
        finally:
            for part, shown in zip(parts, before, strict=True):
                part.shown = shown

    def size(self) -> int:
        """Characters of the history as it was built last, with all that came since."""
        self._build()
        return self._size

    def sizes(self) -> list[int]:
        """Characters of each entry."""
        self._build()
        return list(self._sizes)

    def owners(self) -> list[list[int]]:
        """For each message that was built last, the events that it is about."""
        return [owners for entry in self.entries for owners in entry.owners(self._urls)]

    def part(self, id: int) -> Call | Said | None:
        """What an action or a message is in the history."""
        return self._parts.get(id)

    def action_of(self, call_id: str) -> int | None:
        """The action of a tool call, by the id that the provider knows it by."""
        return self._call_ids.get(call_id)

    def _note_views(self, urls: Urls | None) -> None:
        """Build anew what shows an image that came into view, or left it."""
        before, self._urls = self._urls, urls
        if (before is None) != (urls is None):
            changed = set(self._image_turns)
        else:
            was, now = before or {}, urls or {}
            changed = {n for n in was.keys() | now.keys() if was.get(n, n) != now.get(n, n)}
        for number in changed & self._image_turns.keys():
            self._build_anew_from(self._image_turns[number].index)

    def _build(self) -> None:
        for entry in self.entries[len(self._starts) :]:
            messages = entry.messages(self._urls)
            self._starts.append(len(self._built))
            self._sizes.append(size_of(messages))
            self._size += self._sizes[-1]
            self._built += messages

    def _build_anew_from(self, index: int) -> None:
        if index >= len(self._starts):
            return
        del self._built[self._starts[index] :]
        self._size -= sum(self._sizes[index:])
        del self._starts[index:], self._sizes[index:]

    # From events

    def _add(self, event: Event) -> None:
        if isinstance(event, UserMessageAction):
            self._add_user_message(event)
        elif isinstance(event, CondensationAction):
            self._condense(event)
        elif isinstance(event, QuarantineAction):
            for id in event.items:
                self._show(id, "without_images" if event.only_images else "refused")
        elif isinstance(event, AgentDelegateAction) and not self.entries:
            # A delegate's own history begins with it, as others do with what the person says.
            self._add_note(event.id, cut(event.task, MESSAGE_LIMIT), by_person=True)
        elif isinstance(event, NetworkAccessAction):
            self._add_note(event.id, f"[{access_changed(event)}]")
        elif isinstance(event, UndoAction | RewindAction):
            self._restores[event.id] = event
        elif isinstance(event, FilesRestoredObservation):
            self._add_note(event.id, note_of_restore(self._restores, event, self._call_from))
        elif isinstance(event, ReplayObservation):
            self._add_note(event.id, note_of_replay(event))
        elif isinstance(event, LimitWarningObservation):
            self._add_note(event.id, note_of_limit(event))
        elif isinstance(event, StuckObservation):
            self._add_note(event.id, note_of_loop(event))
        elif isinstance(event, HookObservation):
            self._add_hook(event)
        elif isinstance(event, SkillObservation | SkillsObservation):
            self._add_skill(event)
        elif isinstance(event, Action) and event.source == "user":
            pass  # An earlier cell of the agent's own, run again.
        elif isinstance(event, Action):
            self._add_action(event)
        elif event.cause is not None:
            self._add_answer(event, self._parts.get(event.cause))

    def _add_answer(self, event: Event, call: Call | Said | None) -> None:
        if not isinstance(call, Call):
            return
        if isinstance(event, NetworkRefusedObservation):
            call.refusals.append(_refusal(event))
        else:
            call.result = cut(result(event), RESULT_LIMIT)
            for image in images_of(event):
                label = f"{call.call.name}, {image.handle}"
                number = len(self._image_turns)
                self._image_turns[number] = call.turn
                shown = PromptImage(number=number, label=label, image=image)
                self.images.append(shown)
                call.images.append(shown)
        self._build_anew_from(call.turn.index)

    def _add_user_message(self, event: UserMessageAction) -> None:
        """A message answers the agent's question, if it asked one with a tool call."""
        said = cut(with_context(event.content, event.context), MESSAGE_LIMIT)
        if self._question:
            self._parts.setdefault(event.id, self._question)
            self._question.result = said
            self._build_anew_from(self._question.turn.index)
            self._question = None
        else:
            self._add_note(event.id, said, by_person=True)

    def _add_note(self, id: int, text: str, by_person: bool = False) -> None:
        self._parts[id] = said = Said(id, text, by_person)
        self._append(said)

    def _add_hook(self, event: HookObservation) -> None:
        if event.event == "UserPromptSubmit" and event.outcome == "blocked":
            self._keep_back(event.cause)
        elif event.outcome == "told" or (event.event == "Stop" and event.outcome == "blocked"):
            self._add_note(event.id, note_of_hook(event))

    def _keep_back(self, message: int | None) -> None:
        """Tell no more of a message of the person than that there was one."""
        match self._parts.get(message) if message is not None else None:
            case Said() as said:
                said.text = KEPT_BACK
                self._build_anew_from(said.index)
            case Call() as call:
                call.result = KEPT_BACK
                self._build_anew_from(call.turn.index)

    def _add_skill(self, event: SkillObservation | SkillsObservation) -> None:
        """What stands at the beginning of the prompt is no part of the history."""
        if event.at_start:
            return
        if isinstance(event, SkillsObservation):
            if event.skills:
                self._add_note(event.id, note_of_listing(event))
        elif event.reason == "asked" and event.cause is not None:
            self._add_answer(event, self._parts.get(event.cause))
        else:
            self._add_note(event.id, note_of_skill(event))

    def _append(self, entry: Entry) -> None:
        entry.index = len(self.entries)
        self.entries.append(entry)

    def _call_from(self, event: int) -> ToolCall | None:
        """The first call of the agent from an event on, which may be a step's or an undo's."""
        later = (part for id, part in self._parts.items() if id >= event)
        first = min((p for p in later if isinstance(p, Call)), key=lambda p: p.id, default=None)
        return first.call if first else None

    def _add_action(self, event: Action) -> None:
        call_id = event.llm.tool_call_id if event.llm else None
        if isinstance(event, InvalidToolCallAction) and call_id is None:
            self._add_useless(event)
            return
        response_id = event.llm.response_id if event.llm else f"event-{event.id}"
        turn = self._latest
        if turn is None or turn.response_id != response_id:
            turn = self._latest = Turn(event.id, response_id, _text(event), event.llm)
            self._append(turn)
        if call_id is not None:
            self._add_call(turn, event, call_id)
        self._build_anew_from(turn.index)

    def _add_call(self, turn: Turn, event: Action, call_id: str) -> None:
        if call_id in self._call_ids:
            # Some servers count anew in each response, and some providers refuse that.
            call_id = f"{call_id}_{event.id}"
        self._call_ids[call_id] = event.id
        self._parts[event.id] = call = Call(event.id, turn, _call(event, call_id))
        turn.calls.append(call)
        match event:
            case AgentMessageAction():
                call.is_question = True
                self._question = call
            case InvalidToolCallAction():
                call.result = f"Error (invalid_tool_call): {event.message}"
            case AgentThinkAction() | TaskTrackingAction() | FinishAction():
                call.result = "Noted."

    def _add_useless(self, event: InvalidToolCallAction) -> None:
        """A reply that means nothing, and what is wrong with it."""
        written = event.llm.arguments if event.llm else None
        reply = "\n".join(filter(None, [event.thought, written]))
        self._append(Turn(event.id, f"event-{event.id}", cut(reply, REPLY_LIMIT)))
        self._latest = None
        self._add_note(event.id, f"[{event.message}]")

    # What is shown of it

    def _condense(self, event: CondensationAction) -> None:
        for id in event.masked:
            self._show(id, "masked")
        start, end = event.forgotten_start, event.forgotten_end
        if start is None or end is None:
            return
        gone = [entry for entry in self.entries if start <= entry.id <= end]
        if not gone:
            return
        self._build_anew_from(gone[0].index)
        first, images = gone[0].index, {n for e in gone if isinstance(e, Turn) for n in _images(e)}
        kept = [entry for entry in self.entries if not start <= entry.id <= end]
        if event.summary:
            quoted = [part for part in map(self.part, event.quoted) if isinstance(part, Said)]
            kept.insert(first, Condensed(start, event.summary, quoted))
        self.entries = kept
        for index, entry in enumerate(kept):
            entry.index = index
        self.images = [image for image in self.images if image.number not in images]
        if self._latest in gone:
            self._latest = None

    def _show(self, id: int, shown: Shown) -> None:
        part = self._parts.get(id)
        if part is None or SHOWN.index(shown) <= SHOWN.index(part.shown):
            return
        part.shown = shown
        if isinstance(part, Call):
            gone = {image.number for image in part.images}
            self.images = [image for image in self.images if image.number not in gone]
        self._build_anew_from(part.turn.index if isinstance(part, Call) else part.index)


def _images(turn: Turn) -> list[int]:
    """The numbers of its images."""
    return [image.number for call in turn.calls for image in call.images]


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
        name=plain_name(event.llm.tool_name or ""),
        arguments=_object_or_empty(event.llm.arguments or ""),
    )


def _object_or_empty(arguments: str) -> str:
    """`arguments` if they are a JSON object, which some providers insist on, else none."""
    try:
        return arguments if arguments and isinstance(decoded(arguments), dict) else "{}"
    except ValueError:
        return "{}"
