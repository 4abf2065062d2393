"""How a person has configured condensers."""

from __future__ import annotations

import msgspec

from ...events import CondenserName


class CondenserSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The section ``[condenser]`` of ``config.toml``, in OpenHands' words.

    Attributes
    ----------
    type
        Which condenser; ``noop`` for none.
    attention_window
        Newest results that observation masking leaves alone.
    keep_first
        Entries at the beginning that always stay.
    max_tokens
        Length of a prompt at which it is condensed; None for four fifths of the model's window.
    max_event_length
        Characters of one event that a summary is made from.
    """

    type: CondenserName = "pipeline"
    attention_window: int = 10
    keep_first: int = 1
    max_tokens: int | None = None
    max_event_length: int = 10_000


DEFAULT = CondenserSettings()
