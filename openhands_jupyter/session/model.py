"""The language model of one session, and how its agent goes on with it when it becomes long."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..agents.condensers import CondenserSettings
from ..config import Settings
from ..events import State
from ..llm.base import Delta, LanguageModel, Message, Response, Tool


class SessionModel:
    """The session's model: whichever it is set to at the time of each call.

    So a new key, address or model counts from the next call on.
    """

    def __init__(self, state: State, resolve: Callable[[str], LanguageModel]) -> None:
        self._state = state
        self._resolve = resolve

    @property
    def name(self) -> str:
        return self._state.model

    async def sees_images(self) -> bool:
        return await self._resolve(self.name).sees_images()

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        on_delta: Callable[[Delta], None],
    ) -> Response:
        return await self._resolve(self.name).complete(messages, tools, on_delta)


def condenser_settings(settings: Settings) -> CondenserSettings:
    """What is configured about condensers."""
    return CondenserSettings(
        type=settings.condenser,
        attention_window=settings.condenser_attention_window,
        keep_first=settings.condenser_keep_first,
        max_tokens=settings.condenser_max_tokens,
        max_event_length=settings.condenser_max_event_length,
    )
