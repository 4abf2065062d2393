"""What the models of a session have taken so far: tokens, and money as far as it is known."""

from __future__ import annotations

from dataclasses import dataclass, field

from .observations import ModelUsageObservation


@dataclass
class Ledger:
    """Sums over all model responses of a session, whoever asked for them.

    Each response counts once, however often the log tells of it.

    Attributes
    ----------
    prompt_tokens, completion_tokens
        Tokens as the providers counted them.
    cost
        US dollars for the responses whose price is known.
    unpriced_tokens
        Tokens of those whose price is not known; these may cost anything.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    unpriced_tokens: int = 0
    _counted: set[str] = field(default_factory=set)

    @property
    def tokens(self) -> int:
        """All tokens, in and out."""
        return self.prompt_tokens + self.completion_tokens

    def add(self, usage: ModelUsageObservation) -> None:
        """Count a response, unless it was counted before."""
        if usage.response_id in self._counted:
            return
        self._counted.add(usage.response_id)
        self.prompt_tokens += usage.prompt_tokens
        self.completion_tokens += usage.completion_tokens
        if usage.cost is None:
            self.unpriced_tokens += usage.prompt_tokens + usage.completion_tokens
        else:
            self.cost += usage.cost
