"""Long lists of names, kept readable in the tables."""

from __future__ import annotations


def name_set(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())
