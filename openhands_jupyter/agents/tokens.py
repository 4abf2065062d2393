"""How many tokens a prompt has: an estimate from its length, set right by what providers count."""

from __future__ import annotations

DEFAULT_RATIO = 0.3
"""Tokens in a character; code and English have about a quarter, and it is better to be cautious."""

_LEAST, _MOST = 0.1, 1.0


class TokenMeter:
    """Turns characters (see `entries.size_of`) into tokens.

    Loading a tokenizer would take long, and each model has one of its own; what a provider
    counted for one prompt says enough about the next.

    Attributes
    ----------
    ratio
        Tokens per character.
    """

    def __init__(self) -> None:
        self.ratio = DEFAULT_RATIO

    def learn(self, characters: int, tokens: int) -> None:
        """Take in what a provider counted for a prompt of so many characters."""
        if characters > 0 and tokens > 0:
            self.ratio = min(_MOST, max(_LEAST, tokens / characters))

    def tokens(self, characters: int) -> int:
        """Tokens of a prompt of so many characters."""
        return round(characters * self.ratio)

    def characters(self, tokens: float) -> int:
        """Characters that so many tokens are."""
        return round(tokens / self.ratio)
