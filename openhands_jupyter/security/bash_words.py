"""The parts that shell text is taken apart into."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Word:
    """One word of a command.

    Attributes
    ----------
    text
        The word with quotes removed; what is only known at run time stands as written.
    literal
        Whether the text is exactly what the command gets.
    glob
        Whether it may stand for several file names.
    """

    text: str
    literal: bool = True
    glob: bool = False


@dataclass(frozen=True)
class Redirect:
    """A redirection from or to a file."""

    operator: str
    target: Word

    @property
    def writes(self) -> bool:
        """Whether the file is written."""
        if self.operator in (">&", "<&") and re.fullmatch(r"\d+-?|-", self.target.text):
            return False
        return ">" in self.operator


@dataclass
class Command:
    """A simple command.

    Attributes
    ----------
    words
        Name and arguments; empty where only variables are set or files redirected.
    assignments
        Variables set for this command, or for the shell if there are no words.
    redirects
        Files that it is redirected from or to.
    stdin
        What it reads, where the text says so; None if that is not known.
    piped
        Whether its input comes from another command or from text.
    """

    words: list[Word]
    assignments: dict[str, Word] = field(default_factory=dict)
    redirects: list[Redirect] = field(default_factory=list)
    stdin: str | None = None
    piped: bool = False


@dataclass
class Script:
    """Shell text taken apart.

    Attributes
    ----------
    commands
        All simple commands in the order of the text, those inside substitutions included.
    broken
        Whether parts could not be parsed.
    kinds
        Kinds of all nodes in the parse tree.
    """

    commands: list[Command]
    broken: bool
    kinds: set[str]
