"""What shell commands do to files: delete, replace, move, change, fetch."""

from __future__ import annotations

import re

from .bash_words import Command
from .scene import Scene
from .shell_words import operands, options

REMOTE = re.compile(r"(?![A-Za-z]:\\)[\w.-]+@?[\w.-]*:(?!/dev)|\w+://|rsync://")


def check_delete(scene: Scene, name: str, command: Command) -> None:
    """``rm`` and its like."""
    targets = operands(command.words, frozenset({"-n", "-s", "--iterations", "--size"}))
    if not targets:
        if not set(options(command.words)) & {"--help", "--version"}:
            scene.add("high", "Deletes files")
        return
    for target in targets:
        if target.literal and not target.glob:
            scene.delete(target.text)
        else:
            scene.touch(target.text)
            scene.add("high", "Deletes files", target.text)


def check_truncate(scene: Scene, name: str, command: Command) -> None:
    """``truncate``."""
    targets = operands(command.words, frozenset({"-s", "-r", "--size", "--reference"}))
    for target in targets:
        scene.write(target.text)
    scene.add("high", "Cuts off the content of files", *(target.text for target in targets))


def check_dd(scene: Scene, name: str, command: Command) -> None:
    """``dd``: ``of=`` is written, ``if=`` read."""
    for word in command.words[1:]:
        if word.text.startswith("of="):
            scene.write(word.text[3:])
            if scene.places.exists(word.text[3:], scene.cwd):
                scene.add("high", "Overwrites files", word.text[3:])
        elif word.text.startswith("if="):
            scene.touch(word.text[3:])


def check_move(scene: Scene, name: str, command: Command) -> None:
    """``mv``: what it replaces, and what it takes out of a place."""
    found = operands(command.words, frozenset({"-t", "-S", "--target-directory"}))
    sources, target = found[:-1], found[-1:]
    for word in target:
        if scene.places.exists(word.text, scene.cwd) and "-n" not in options(command.words):
            scene.add("high", "Replaces files", word.text)
        if scene.places.place(word.text, scene.cwd) in ("scratch", "device"):
            for source in sources:
                if scene.places.place(source.text, scene.cwd) == "workspace":
                    scene.add("high", "Moves files out of the workspace", source.text)
    for word in sources:
        if scene.places.place(word.text, scene.cwd) == "outside":
            scene.add("high", "Moves files away from outside the workspace", word.text)
        elif scene.places.is_protected(word.text, scene.cwd):
            scene.write(word.text)


def check_chmod(scene: Scene, name: str, command: Command) -> None:
    """``chmod``: the bits that lend rights."""
    found = [word.text for word in command.words[1:]]
    for text in found:
        if re.fullmatch(r"0?[2467][0-7]{3}|[ugoa]*[+=][rwxXt]*s[rwxXst]*", text):
            scene.add("high", "Gives a program the rights of its owner", " ".join(found))
    for target in operands(command.words)[1:]:
        if target.literal:
            scene.write(target.text)


def check_rsync(scene: Scene, name: str, command: Command) -> None:
    """``rsync``: what it deletes, runs and connects to."""
    found = options(command.words)
    if any(option.startswith(("--delete", "--remove-source", "--del")) for option in found):
        scene.add("high", "Deletes files with rsync")
    if any(option in ("-e", "--rsh", "--rsync-path") for option in found):
        scene.add("high", "Runs a command of its own choice with rsync")
    if any(REMOTE.match(word.text) for word in operands(command.words)):
        scene.network(name)


def check_archive(scene: Scene, name: str, command: Command) -> None:
    """``tar`` and ``zip``: options that run programs or delete."""
    for text in (word.text for word in command.words[1:]):
        if re.match(r"--(to-command|checkpoint-action|use-compress-program|rsh-command)|-I$", text):
            scene.add("high", "Runs a command of its own choice with tar", text)
        if text in ("--remove-files", "-m") and (name == "zip" or text.startswith("--")):
            scene.add("high", "Deletes files after packing them")
        if text in ("-P", "--absolute-names"):
            scene.add("high", "Writes outside the workspace", text)


def check_remote_get(scene: Scene, name: str, command: Command) -> None:
    """``curl -O`` and ``wget`` write where they run; ``file://`` reads without any network."""
    for word in command.words[1:]:
        if word.text.startswith("file://"):
            scene.touch(word.text.removeprefix("file://"))
        elif word.text.startswith("@") or "=@" in word.text:
            scene.touch(word.text.rpartition("@")[2])


def check_venv(scene: Scene, name: str, command: Command) -> None:
    """``python -m venv``: the folder that it fills."""
    for word in operands(command.words):
        if word.literal:
            scene.write(word.text)
