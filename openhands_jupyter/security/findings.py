"""What the rules found in one action, gathered into sentences for a person."""

from __future__ import annotations

import unicodedata

from ..events import Risk, RiskLevel

MAX_NAMED = 8
MAX_NAME = 80

_RANK: dict[RiskLevel, int] = {"low": 0, "medium": 1, "high": 2}


def highest(*levels: RiskLevel) -> RiskLevel:
    """The highest of some levels; ``low`` if there is none."""
    return max(levels, key=_RANK.__getitem__, default="low")


def printable(text: str) -> str:
    """Text on one line, shortened, with control and direction characters made visible."""
    if len(text) > MAX_NAME:
        text = text[: MAX_NAME - 1] + "…"
    return "".join(
        f"\\u{ord(char):04x}" if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl") else char
        for char in text
    )


class Findings:
    """Collects findings; the same sentence about several things is said once."""

    def __init__(self) -> None:
        self._found: dict[tuple[RiskLevel, str], dict[str, None]] = {}

    def add(self, level: RiskLevel, sentence: str, *things: str) -> None:
        """Note something.

        Parameters
        ----------
        level
            How risky it is.
        sentence
            What it is; ``{}`` stands for the things, which else follow after a colon.
        things
            Files, commands or hosts that the sentence is about.
        """
        named = self._found.setdefault((level, sentence), {})
        named.update(dict.fromkeys(printable(thing) for thing in things))

    def risk(self) -> Risk:
        """The highest level found, and all sentences, the gravest first."""
        ordered = sorted(self._found.items(), key=lambda item: -_RANK[item[0][0]])
        return Risk(
            level=highest(*(level for level, _ in self._found)),
            reasons=[_sentence(text, list(things)) for (_, text), things in ordered],
        )


def _sentence(text: str, things: list[str]) -> str:
    named = ", ".join(things[:MAX_NAMED])
    if len(things) > MAX_NAMED:
        named += f" and {len(things) - MAX_NAMED} more"
    if "{}" in text:
        return text.replace("{}", named)
    return f"{text}: {named}" if named else text
