"""Rules for shell text: which commands it runs, and what each of them would do."""

from __future__ import annotations

import os
import re

from . import commands as known
from .bash_tree import parse
from .bash_words import Command, Redirect, Word
from .scene import Scene
from .shell_rules import RULES, check_operands

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_TAKE_VARIABLES = ("env", "sudo", "doas", "time", "coproc", "!")
_HARMLESS_PATH = re.compile(r"(\$PATH|\$\{PATH\}|[\w./:~-])*")


def check_shell(scene: Scene, text: str) -> None:
    """Note what shell text would do.

    Raises
    ------
    TooComplex
        When it cannot be looked through.
    """
    script = parse(text)
    if script.broken:
        scene.add("high", "Contains shell text that cannot be parsed")
    if "&" in script.kinds or "coproc" in script.kinds:
        scene.add("medium", "Starts something that keeps running in the background")
    aliases: dict[str, str] = {}
    folder = scene.cwd
    for command in script.commands:
        _check_assignments(scene, command)
        for redirect in command.redirects:
            _check_redirect(scene, command, redirect)
        check_command(scene, command, aliases)
    if "subshell" in script.kinds:
        scene.cwd = folder


def check_command(scene: Scene, command: Command, aliases: dict[str, str] | None = None) -> None:
    """Note what one simple command would do, wrappers such as ``env`` or ``xargs`` seen through."""
    words = command.words
    for _ in range(32):
        if not words:
            return
        name = _name(words[0])
        if name is None:
            _computed_name(scene, words)
            return
        if aliases and name in aliases:
            scene.read("shell", " ".join([aliases[name], *(_quoted(word) for word in words[1:])]))
            return
        if name == "alias" and aliases is not None:
            for alias, value in _aliases(words).items():
                aliases[alias] = value
                scene.read("shell", value)
        if name in known.PRIVILEGE:
            scene.add("high", "Asks for rights beyond the sandbox", name)
        if name in known.BACKGROUND:
            scene.add("medium", "Starts something that keeps running in the background")
        if name == "xargs":
            _check_xargs(scene, words)
        if name in known.WRAPPERS or name in ("sudo", "doas"):
            words = _unwrapped(scene, command, name, words)
            continue
        _dispatch(scene, name, Command(words, {}, command.redirects, command.stdin, command.piped))
        return
    scene.add("high", "Hides the command behind too many others")


def _dispatch(scene: Scene, name: str, command: Command) -> None:
    check_operands(scene, name, command)
    rule = RULES.get(name)
    if rule is not None:
        rule(scene, name, command)
    if os.sep in command.words[0].text:
        path = command.words[0].text
        if scene.places.place(path, scene.cwd) != "outside":
            _run_file(scene, path)


def _run_file(scene: Scene, path: str) -> None:
    """A script of the workspace run by its name: its first line says if it is Python."""
    resolved = scene.places.resolve(path, scene.cwd)
    text = scene.written.get(resolved, "") or scene.places.read_script(path, scene.cwd) or ""
    first = text.partition("\n")[0]
    if "\ufffd" in first or "\0" in first:
        return
    scene.run_script(path, "python" if "python" in first else "shell")


def _name(word: Word) -> str | None:
    """The plain name of a command; None if it is only known at run time."""
    if not word.literal or word.glob or "{" in word.text:
        return None
    return os.path.basename(word.text) or word.text


def _computed_name(scene: Scene, words: list[Word]) -> None:
    scene.add("high", "The command name is computed, so it cannot be told what runs", words[0].text)


def _quoted(word: Word) -> str:
    if not word.literal or word.glob:
        return word.text
    return "'" + word.text.replace("'", "'\\''") + "'"


def _aliases(words: list[Word]) -> dict[str, str]:
    pairs = (word.text.partition("=") for word in words[1:] if "=" in word.text)
    return {name: value for name, _, value in pairs}


def _unwrapped(scene: Scene, command: Command, name: str, words: list[Word]) -> list[Word]:
    """The words of the command that a wrapper runs."""
    valued = known.WRAPPERS.get(name, frozenset({"-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T"}))
    operands = known.WRAPPER_OPERANDS.get(name, 0)
    rest = words[1:]
    while rest:
        text = rest[0].text
        if name in ("command", "exec") and text in ("-v", "-V"):
            return []
        if name == "env" and text.startswith(("-S", "--split-string")):
            scene.read("shell", _split_string(rest))
            return []
        if text.startswith("-") and text != "-":
            rest = rest[2:] if text in valued else rest[1:]
        elif (name in _TAKE_VARIABLES and _ASSIGNMENT.match(text)) or text == "-":
            _check_variable(scene, *_split(rest[0]))
            rest = rest[1:]
        elif operands:
            operands -= 1
            rest = rest[1:]
        else:
            break
    if name in ("watch", "parallel", "chronic") and len(rest) == 1:
        if rest[0].literal:
            scene.read("shell", rest[0].text)
        else:
            _computed_name(scene, rest)
        return []
    if name == "parallel" and not rest:
        scene.add("high", "Runs commands that it reads from its input", name)
    if name == "xargs" and rest:
        rest = [*rest, Word("(its input)", literal=False)]
    return rest


def _split_string(words: list[Word]) -> str:
    """The command of ``env -S 'command argument' …``."""
    value = words[0].text.removeprefix("--split-string").removeprefix("-S").lstrip("=")
    return " ".join([value, *(word.text if not value else _quoted(word) for word in words[1:])])


def _check_xargs(scene: Scene, words: list[Word]) -> None:
    for word in words[1:]:
        name = os.path.basename(word.text)
        if name in known.SHELLS or name in known.PYTHONS:
            scene.add("high", "Runs commands that are made up from input (xargs)", name)


def _split(word: Word) -> tuple[str, Word]:
    name, _, value = word.text.partition("=")
    return name, Word(value, word.literal, word.glob)


def _check_assignments(scene: Scene, command: Command) -> None:
    for name, value in command.assignments.items():
        _check_variable(scene, name, value)


def _check_variable(scene: Scene, name: str, value: Word) -> None:
    name = name.removesuffix("+")
    if name not in known.LOADER_VARIABLES:
        return
    if name == "PATH" and _HARMLESS_PATH.fullmatch(value.text):
        return
    if name in ("PAGER", "GIT_PAGER", "MANPAGER") and value.text in ("", "cat", "less"):
        return
    if name in ("LD_LIBRARY_PATH", "IFS", "PS4", "ENV") and value.literal:
        return
    scene.add("high", "Sets a variable that makes other programs run something unseen", name)


def _check_redirect(scene: Scene, command: Command, redirect: Redirect) -> None:
    path = redirect.target.text
    if re.match(r"/dev/(tcp|udp)/", path):
        scene.network(path)
    elif redirect.target.literal or path.startswith(("/", "~", "..")):
        if redirect.writes:
            scene.write(path, _written_text(command, redirect))
        else:
            scene.touch(path)


def _written_text(command: Command, redirect: Redirect) -> str | None:
    """The text that ends up in a file, for a here-document or an echo into it."""
    if redirect.operator not in (">", ">|") or not command.words:
        return None
    words = [word.text for word in command.words]
    if not all(word.literal and not word.glob for word in command.words):
        return None
    if words == ["cat"]:
        return command.stdin
    if words[0] == "echo" and words[1:2] != ["-e"]:
        return " ".join(words[1:])
    return None
