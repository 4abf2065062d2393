"""What a model is no longer shown of the session; the log itself is never cut."""

from __future__ import annotations

from typing import Literal

from .event import Action

CondensationReason = Literal["tokens", "overflow"]

CondenserName = Literal["pipeline", "llm", "observation_masking", "conversation_window", "noop"]
"""The condensers that a person can choose, in OpenHands' words."""


class CondensationAction(Action, frozen=True, kw_only=True, tag=True):
    """From here on the model is shown less of what came before, so that it fits its window.

    Attributes
    ----------
    condenser
        Which one did it.
    reason
        ``tokens`` when the prompt was about to fill the model's window, ``overflow`` when the
        provider refused it as too long.
    masked
        Ids of actions whose results are no longer told, and of messages that are told shortened.
    forgotten_start, forgotten_end
        Ids of the first and the last event that are left out, both included; what began within
        them is left out whole. None where nothing is.
    summary
        What stands in the place of these.
    quoted
        Ids of messages of the person among them that stay told, shortened.
    tokens_before, tokens_after
        Estimated length of the whole prompt.
    """

    condenser: str
    reason: CondensationReason
    masked: list[int] = []
    forgotten_start: int | None = None
    forgotten_end: int | None = None
    summary: str = ""
    quoted: list[int] = []
    tokens_before: int = 0
    tokens_after: int = 0


class QuarantineAction(Action, frozen=True, kw_only=True, tag=True):
    """From here on a placeholder stands in the prompt for what a provider does not accept.

    Attributes
    ----------
    items
        Ids of the actions, with their results, and of the messages that it is about.
    message
        What the provider said.
    only_images
        Whether their texts stay, and only the images among the results go.
    """

    items: list[int]
    only_images: bool = False
    message: str = ""
