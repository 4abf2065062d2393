"""The language model of one session: whichever it is set to, and others where that one fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import msgspec

from ..agents.condensers import CondenserSettings
from ..config import Config, Settings
from ..controller.log import Log
from ..controller.retrying import Retrying
from ..errors import ModelError
from ..events import ModelNoticeObservation
from ..llm.base import (
    Capabilities,
    Delta,
    LanguageModel,
    Message,
    Response,
    Tool,
    without_images,
)
from ..llm.windows import SMALL_WINDOW, advice

RESTS_FOR = 300.0
"""Seconds that a model which failed for good is not asked, if there is another one."""

_SAME_WITH_ANOTHER = {"model_bad_request", "model_context"}
"""Codes of what is wrong with the prompt, which another model would be given too."""


class SessionModel:
    """The session's model: whichever it is set to at the time of each call.

    So a new key, address or model counts from the next try on. A try that failed for the moment is
    made again; when a model fails for good, the configured fallback models are asked in order.

    Parameters
    ----------
    log
        The session's log; what happens to its model is told there.
    resolve
        Gives the model of a name.
    config
        The settings.
    """

    def __init__(self, log: Log, resolve: Callable[[str], LanguageModel], config: Config) -> None:
        self._log = log
        self._resolve = resolve
        self._config = config
        self._retrying = Retrying(log)
        self._rests_until: dict[str, float] = {}
        self._answered = ""
        self._prompted_for = ""
        self._blind: set[str] = set()
        self._looked_at: set[str] = set()

    @property
    def name(self) -> str:
        """The model that the session is set to."""
        return self._log.state.model

    async def capabilities(self) -> Capabilities:
        """What the model is able to that would be asked now."""
        self._prompted_for = self._order()[0]
        return await self._capabilities_of(self._prompted_for)

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        on_delta: Callable[[Delta], None],
    ) -> Response:
        """Continue the conversation; see `LanguageModel.complete`."""
        while True:
            chosen = self.name
            try:
                return await self._complete(chosen, messages, tools, on_delta)
            except ModelError:
                # The person chose another one while it was waited for.
                if self.name == chosen:
                    raise

    async def _complete(
        self,
        chosen: str,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        on_delta: Callable[[Delta], None],
    ) -> Response:
        order = self._order()
        for name, following in zip(order, [*order[1:], None], strict=True):

            async def make(name: str = name) -> Response:
                if self.name != chosen:
                    raise ModelError("model_changed", "Another model was chosen.")
                return await self._try(name, messages, tools, on_delta)

            try:
                response = await self._retrying.call(make, self._config.settings.model_retries)
            except ModelError as error:
                if following is None or self.name != chosen or error.code in _SAME_WITH_ANOTHER:
                    raise
                self._rests_until[name] = time.monotonic() + RESTS_FOR
                self._tell_of_switch(name, following, error)
            else:
                self._note_answer(name)
                return response
        raise AssertionError("unreachable")

    def _order(self) -> list[str]:
        """The models to be asked, those last that failed a short while ago."""
        names = dict.fromkeys([self.name, *self._config.settings.fallback_models])
        return sorted(names, key=self._rests)

    def _rests(self, name: str) -> bool:
        return self._rests_until.get(name, 0.0) > time.monotonic()

    async def _try(
        self,
        name: str,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        on_delta: Callable[[Delta], None],
    ) -> Response:
        begun = False

        def note(delta: Delta) -> None:
            nonlocal begun
            begun = True
            on_delta(delta)

        try:
            await self._look_at(name)
            others_prompt = name != self._prompted_for
            if others_prompt and not (await self._capabilities_of(name)).vision:
                messages = [without_images(message) for message in messages]
            return await self._resolve(name).complete(messages, tools, note)
        except ModelError as error:
            if begun:
                on_delta(Delta(kind="void", text=""))
            if error.code != "model_no_images" or name in self._blind:
                raise
            self._note_blindness(name, error)
            messages = [without_images(message) for message in messages]
            return await self._try(name, messages, tools, on_delta)

    async def _capabilities_of(self, name: str) -> Capabilities:
        found = await self._resolve(name).capabilities()
        return msgspec.structs.replace(found, vision=False) if name in self._blind else found

    async def _look_at(self, name: str) -> None:
        """Tell once of a window in which an agent cannot work."""
        if name in self._looked_at:
            return
        window = (await self._capabilities_of(name)).window
        if window is None:
            # A server on this machine may tell when it has loaded the model.
            return
        self._looked_at.add(name)
        if window < SMALL_WINDOW:
            self._tell(
                name,
                "small_window",
                f"{name} takes {window} tokens at a time, which is little for an agent: it will "
                "forget much and may not work.",
                advice(name),
            )

    def _note_blindness(self, name: str, error: ModelError) -> None:
        self._blind.add(name)
        message = f"{name} takes no images. It is told of them in words from here on."
        self._tell(name, error.code, message, error.hint)

    def _tell_of_switch(self, name: str, following: str, error: ModelError) -> None:
        message = f"{error.message} {following} is asked instead of {name}."
        self._tell(following, error.code, message, error.hint)

    def _note_answer(self, name: str) -> None:
        if name == self.name and self._answered not in ("", name):
            self._tell(name, "model_back", f"{name} answers again.")
        self._answered = name

    def _tell(self, model: str, code: str, message: str, hint: str = "") -> None:
        self._log.stream.append(
            ModelNoticeObservation(model=model, code=code, message=message, hint=hint)
        )


class SummaryModel(SessionModel):
    """The model that sums up: the one that is configured for it, else that of the session.

    Where it fails, the session's own is asked, and its fallbacks.
    """

    def _order(self) -> list[str]:
        configured = self._config.settings.condenser_model
        order = super()._order()
        if configured is None or self._rests(configured):
            return order
        return list(dict.fromkeys([configured, *order]))

    def _note_answer(self, name: str) -> None:
        """Tell nothing when the session's model answers: it is not the first that is asked."""


def condenser_settings(settings: Settings) -> CondenserSettings:
    """What is configured about condensers."""
    return CondenserSettings(
        type=settings.condenser,
        attention_window=settings.condenser_attention_window,
        keep_first=settings.condenser_keep_first,
        max_tokens=settings.condenser_max_tokens,
        max_event_length=settings.condenser_max_event_length,
    )
