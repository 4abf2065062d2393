"""What the rules share while they look at one action."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..events import RiskLevel
from .findings import Findings
from .paths import Places

MAX_DEPTH = 8
MAX_TOTAL = 1_000_000


class TooComplex(Exception):
    """The code is too long or too deeply nested to be looked through."""


Reader = Callable[["Scene", str], None]


_NETWORK_HINTS = {
    True: "; what is not allowed will be refused",
    False: "; the sandbox has none, so it will most likely fail",
    None: "",
}


@dataclass
class Scene:
    """One action under examination.

    Attributes
    ----------
    places
        Tells paths apart.
    isolated
        Whether a sandbox surrounds the action.
    online
        Whether that has a network; None where it is not known.
    readers
        Reads text of a language (``shell``, ``python``, ``cell``) for its findings; a table, so
        that shell rules can read Python and the other way round.
    cwd
        Where relative paths are read from; None once that cannot be told.
    kernel_names
        What earlier cells of the same kernel named, which later cells can use.
    written
        What the action itself writes before it may run it: text by path, None if unknown.
    """

    places: Places
    isolated: bool
    readers: dict[str, Reader]
    findings: Findings = field(default_factory=Findings)
    kernel_names: dict[str, list[str]] = field(default_factory=dict)
    cwd: str | None = ""
    online: bool | None = False
    written: dict[str, str | None] = field(default_factory=dict)
    reads_outside: list[str] = field(default_factory=list)
    _depth: int = 0
    _total: int = 0
    _scripts: set[str] = field(default_factory=set)

    def add(self, level: RiskLevel, sentence: str, *things: str) -> None:
        """Note a finding (see `Findings.add`)."""
        self.findings.add(level, sentence, *things)

    def read(self, language: str, text: str) -> None:
        """Look through text inside the text that is looked through.

        Raises
        ------
        TooComplex
            When this goes too deep or on for too long.
        """
        self._total += len(text)
        if self._depth >= MAX_DEPTH:
            raise TooComplex("its code is nested too deeply to be checked")
        if self._total > MAX_TOTAL:
            raise TooComplex("its code is too long to be checked")
        self._depth += 1
        try:
            self.readers[language](self, text)
        finally:
            self._depth -= 1

    def run_script(self, path: str, language: str) -> None:
        """Look through a script that is about to be run."""
        resolved = self.places.resolve(path, self.cwd)
        if resolved in self._scripts:
            return
        self._scripts.add(resolved)
        if resolved in self.written:
            text = self.written[resolved]
            if text is None:
                self.add("high", "Writes a script and runs it in one step, unread", path)
                return
        else:
            text = self.places.read_script(path, self.cwd)
        if text is not None:
            self.read(language, text)
        elif not self.places.read_scripts:
            self.add("medium", "Runs a file of another machine, which was not read", path)

    def write(self, path: str, text: str | None = None) -> None:
        """Note that a file is written, with what text if known."""
        place = self.places.place(path, self.cwd)
        self.touch(path)
        if place == "device":
            return
        if place == "outside":
            self.add("high", "Writes outside the workspace", path)
        elif self.places.is_protected(path, self.cwd):
            self.add("high", "Changes a file that your own programs obey or run later", path)
        elif self.cwd is None and not path.startswith(("/", "~")):
            self.add("medium", "Writes in a folder that is only known when it runs", path)
        self.written[self.places.resolve(path, self.cwd)] = text

    def delete(self, path: str) -> None:
        """Note that a file is deleted; its own scratch files may go without asking."""
        resolved = self.places.resolve(path, self.cwd)
        if resolved in self.written and self.places.place(path, self.cwd) == "scratch":
            return
        self.touch(path)
        place = self.places.place(path, self.cwd)
        outside = place in ("outside", "device")
        self.add(
            "high", "Deletes files outside the workspace" if outside else "Deletes files", path
        )

    def touch(self, path: str) -> None:
        """Note that a path is used in whatever way."""
        if self.places.is_credential(path, self.cwd):
            self.add("high", "Touches a place where keys or passwords are kept", path)
        if self.places.is_kernel(path, self.cwd):
            self.add("high", "Connects to your own notebook kernel or server", path)
        if self.places.place(path, self.cwd) == "outside":
            self.reads_outside.append(path)

    def network(self, what: str) -> None:
        """Note an attempt to use the network."""
        hint = _NETWORK_HINTS[self.online] if self.isolated else ""
        self.add("medium", "Uses the network ({})" + hint, what)

    def guarded(self, language: str, text: str) -> None:
        """Look through text; what cannot be looked through counts as high."""
        try:
            self.read(language, text)
        except TooComplex as error:
            self.add("high", f"Cannot be judged: {error}")
        except RecursionError:
            self.add("high", "Cannot be judged: its code is nested too deeply to be checked")
        except Exception as error:
            self.add("high", f"Cannot be judged: the check failed ({type(error).__name__})")
