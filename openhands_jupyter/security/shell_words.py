"""Arguments of a shell command, told apart."""

from __future__ import annotations

from collections.abc import Iterator

from .bash_words import Word


def operands(words: list[Word], valued: frozenset[str] = frozenset()) -> list[Word]:
    """The words after the name that are neither options nor values of `valued` options."""
    found, rest, only = [], iter(words[1:]), False
    for word in rest:
        if not only and word.text == "--":
            only = True
        elif not only and word.text.startswith("-") and word.text != "-":
            if word.text in valued:
                next(rest, None)
        else:
            found.append(word)
    return found


def options(words: list[Word]) -> list[str]:
    """The options, short ones taken apart: ``-xdf`` gives ``-x``, ``-d``, ``-f``, ``-xdf``."""
    found: list[str] = []
    for word in words[1:]:
        if word.text == "--":
            break
        if word.text.startswith("--"):
            found.append(word.text.partition("=")[0])
        elif word.text.startswith("-"):
            found += [word.text, *("-" + letter for letter in word.text[1:])]
    return found


def option_values(words: list[Word], wanted: frozenset[str]) -> Iterator[str]:
    """The values of the options in `wanted`, however they are joined to them."""
    for word, after in zip(words, [*words[1:], None], strict=True):
        option, sign, value = word.text.partition("=")
        if word.text in wanted and after is not None:
            yield after.text
        elif sign and option in wanted:
            yield value
        elif word.text[:2] in wanted and len(word.text) > 2 and not word.text.startswith("--"):
            yield word.text[2:]
