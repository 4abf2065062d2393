"""What an agent is to the controller: it looks at the state and says what to do next."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar
from uuid import uuid4

import msgspec

from ..events import Action, State
from ..events.blobs import BlobStore
from ..llm.base import Delta, LanguageModel, Message, Response, Tool
from .condensers.settings import DEFAULT, CondenserSettings
from .toolbox import ToolSource


class Agent(ABC):
    """Decides on the next action of a session.

    A subclass implements `step`; everything else is there for it to use.

    Parameters
    ----------
    llm
        The session's language model, whichever it is set to at the time of a call.
    workspace
        The folder that the session works in.
    on_delta
        Told each piece of a step's model response as it arrives.
    on_response
        Told each whole model response, the seconds that it took, and who asked for it.
    blobs
        What the events refer to, such as images; None where nothing is kept.
    tool_sources
        Where its tools come from, beside those that its class has.
    condenser
        How a long session is made to fit the model's window.
    summarizer
        The language model that sums up what is left out; None for the session's own.

    Attributes
    ----------
    name
        Name under which the agent is chosen.
    title, description
        What a person who chooses is told of it.
    delegates
        Whether it may give tasks to other agents.
    delegable
        Whether it may be given tasks by others.
    """

    name: ClassVar[str]
    title: ClassVar[str] = ""
    description: ClassVar[str] = ""
    delegates: ClassVar[bool] = False
    delegable: ClassVar[bool] = True

    def __init__(
        self,
        llm: LanguageModel,
        workspace: Path,
        on_delta: Callable[[Delta], None] = lambda delta: None,
        on_response: Callable[[Response, float, str], None] = lambda *told: None,
        blobs: BlobStore | None = None,
        tool_sources: Sequence[ToolSource] = (),
        condenser: CondenserSettings = DEFAULT,
        summarizer: LanguageModel | None = None,
    ) -> None:
        self.llm = llm
        self.workspace = workspace
        self.blobs = blobs
        self.tool_sources = tool_sources
        self.condenser = condenser
        self.summarizer = summarizer or llm
        self._on_delta = on_delta
        self._on_response = on_response

    @abstractmethod
    async def step(self, state: State) -> Action:
        """Say what to do next.

        Parameters
        ----------
        state
            The session so far; not to be changed.

        Returns
        -------
        Action
            The next action. A `FinishAction` ends the task, an `AgentMessageAction` with
            ``wait_for_response`` waits for the person.

        Raises
        ------
        ModelError
            When the model could not be asked.
        """

    def system_message(self, state: State) -> tuple[str, list[str]] | None:
        """The system prompt and the names of the tools, for the log; None if there is none."""
        return None

    async def complete(
        self, messages: Sequence[Message], tools: Sequence[Tool], caller: str = "agent"
    ) -> Response:
        """Ask the session's model, streaming, with its use counted.

        Parameters
        ----------
        messages, tools
            As in `LanguageModel.complete`.
        caller
            Who asks, for the ledger. Only what is asked by ``agent``, for a step, is shown while
            it is written.

        Returns
        -------
        Response
            The whole response, with an id that no other has.

        Raises
        ------
        ModelError
            When the call failed.
        """
        started = time.monotonic()
        on_delta = self._on_delta if caller == "agent" else _not_shown
        llm = self.summarizer if caller == "condenser" else self.llm
        response = await llm.complete(messages, tools, on_delta)
        # Some servers give every response the same id, or none.
        response = msgspec.structs.replace(response, id=f"{response.id}/{uuid4().hex[:8]}")
        self._on_response(response, time.monotonic() - started, caller)
        return response


def _not_shown(delta: Delta) -> None:
    """Take a piece of a response that is not for the timeline."""
