"""Shell commands that run code: shells, interpreters, and tools that start other commands."""

from __future__ import annotations

import re
from itertools import pairwise

from . import commands as known
from .bash_words import Command, Word
from .scene import Scene
from .shell_words import operands


def check_find(scene: Scene, name: str, command: Command) -> None:
    """``find``: what it deletes or runs for each file."""
    words = command.words
    texts = [word.text for word in words]
    if any(not word.literal for word in words[1:] if not word.text.startswith(("/", "~", "."))):
        scene.add("medium", "Runs find with arguments that are only known when it runs")
    if "-delete" in texts:
        places = [text for text in texts[1:] if not text.startswith("-")][:1] or ["."]
        scene.add("high", "Deletes every file that find meets in {}", *places)
    for index, text in enumerate(texts):
        if text in ("-exec", "-execdir", "-ok", "-okdir"):
            ends = (i for i in range(index + 1, len(texts)) if texts[i] in (";", "+"))
            inner = words[index + 1 : next(ends, len(texts))]
            inner = [Word(w.text, w.literal and "{}" not in w.text) for w in inner]
            run_words(scene, inner)


def run_words(scene: Scene, words: list[Word]) -> None:
    """Look at a command that is already taken apart into words."""
    from .shell import check_command

    check_command(scene, Command(words))


def check_shell(scene: Scene, name: str, command: Command) -> None:
    """A shell: its ``-c`` text, its script, or what it reads from its input."""
    words = command.words[1:]
    while words and re.match(r"[-+]", words[0].text):
        option = words[0].text
        if option.startswith("--"):
            takes_value = option in ("--rcfile", "--init-file")
        elif "c" in option[1:]:
            run_text(scene, name, words[1] if len(words) > 1 else None)
            return
        else:
            takes_value = option[1:] in ("o", "O")
            if "s" in option[1:]:
                words = []
                break
        if option in ("--version", "--help"):
            return
        words = words[2:] if takes_value else words[1:]
    if words:
        run_file(scene, name, words[0], "shell")
    else:
        run_stdin(scene, name, command, "shell")


def run_text(scene: Scene, name: str, word: Word | None) -> None:
    """Look at a word that is itself shell text."""
    if word is None or word.text == "":
        return
    if word.literal or re.search(r"[\s;|&]", word.text):
        scene.read("shell", word.text)
    else:
        scene.add("high", "Runs commands that are computed, so they cannot be read", name)


def run_file(scene: Scene, name: str, word: Word, language: str) -> None:
    """Look at a script that a command runs."""
    if word.text.startswith(("<(", "$(", "`", "/dev/fd", "/dev/stdin")):
        scene.add("high", "Runs commands that come from another command, so they cannot be read")
    elif word.literal and not word.glob:
        scene.run_script(word.text, language)
    else:
        scene.add("medium", "Runs a script whose name is only known at run time", word.text)


def run_stdin(scene: Scene, name: str, command: Command, language: str) -> None:
    """Look at the code that an interpreter reads from its input."""
    if command.stdin is not None:
        scene.read(language, command.stdin)
        return
    files = [r.target for r in command.redirects if r.operator in ("<", "<>")]
    if files and not command.piped:
        run_file(scene, name, files[-1], language)
    else:
        scene.add("high", "Runs code that comes from another command, so it cannot be read", name)


def check_python(scene: Scene, name: str, command: Command) -> None:
    """``python``: its ``-c`` code, its ``-m`` module, its script, or its input."""
    words = command.words[1:]
    while words and words[0].text.startswith("-") and words[0].text != "-":
        option = words[0].text
        if option in ("-V", "-VV", "--version", "-h", "--help"):
            return
        if option == "--existing" or option.startswith("--existing="):
            scene.add("high", "Connects to your own notebook kernel or server", name)
            return
        flag = re.match(r"-[bBdEhiIOPqsSuvx]*([cm])(.*)", option, re.DOTALL)
        if flag:
            rest = [Word(flag[2], words[0].literal)] if flag[2] else words[1:2]
            after = words[1:] if flag[2] else words[2:]
            _check_python_option(scene, name, flag[1], rest, after)
            return
        words = words[2:] if option in ("-W", "-X") else words[1:]
    if words and words[0].text != "-":
        run_file(scene, name, words[0], "python")
        if words[0].text.endswith("setup.py"):
            check_setup_py(scene, name, Command(words))
    else:
        run_stdin(scene, name, command, "python")


def _check_python_option(
    scene: Scene, name: str, flag: str, value: list[Word], after: list[Word]
) -> None:
    if not value:
        return
    if flag == "m":
        run_words(scene, [*value, *after])
    elif value[0].literal:
        scene.read("python", value[0].text)
    else:
        scene.add("high", "Runs code that is partly computed, so it cannot be read", name)


def check_eval(scene: Scene, name: str, command: Command) -> None:
    """``eval`` and ``trap``: their words are shell text."""
    words = command.words[1:]
    if name == "trap":
        words = words[:1] if words and not words[0].text.startswith("-") else []
    if not words:
        return
    if all(word.literal and not word.glob for word in words):
        scene.read("shell", " ".join(word.text for word in words))
    else:
        scene.add("high", "Runs commands that are computed, so they cannot be read", name)


def check_source(scene: Scene, name: str, command: Command) -> None:
    """``source``: the script runs in this very shell."""
    for word in command.words[1:2]:
        run_file(scene, name, word, "shell")


def check_sed(scene: Scene, name: str, command: Command) -> None:
    """``sed``: the commands in it that run programs or write files."""
    found = operands(command.words, frozenset({"-e", "-f", "--expression", "--file"}))
    script = [word.text for word in command.words[1:]]
    for text in script:
        if re.search(r"(^|[;{}\d$/\n])\s*e(\s|$)|[/|#,][gpIi\d]*e[gpIi\d]*($|;|\n|\})", text):
            scene.add("high", "Runs commands from within sed", text)
        for path in re.findall(r"(?:^|[;}\d$/\s])[wW]\s+(\S+)", text):
            scene.write(path)
    if any(re.match(r"-[nErsuz]*i|--in-place", text) for text in script):
        for word in found:
            if (
                word.literal and scene.places.place(word.text, scene.cwd) != "workspace"
            ) or scene.places.is_protected(word.text, scene.cwd):
                scene.write(word.text)


def check_awk(scene: Scene, name: str, command: Command) -> None:
    """``awk``: the calls in it that run programs or write files."""
    for word in command.words[1:]:
        if re.search(r"system\s*\(|\|\s*(getline|&|[\"a-z(])|getline\s*<|@load", word.text):
            scene.add("high", "Runs commands from within awk", word.text)
        for path in re.findall(r">{1,2}\s*\"([^\"]+)\"", word.text):
            scene.write(path)
    if re.search(r"-i\s*inplace", " ".join(word.text for word in command.words)):
        for word in operands(command.words, frozenset({"-i"}))[1:]:
            scene.write(word.text)


def check_unread(scene: Scene, name: str, command: Command) -> None:
    """An interpreter whose language has no rules here."""
    flags = known.UNREAD_CODE[name]
    given = {word.text for word in command.words[1:]}
    starts = tuple(flag for flag in flags if len(flag) == 2)
    bundled = any(re.match(r"-[a-zA-Z]*e$", text) for text in given) and "-e" in flags
    if not flags or given & flags or bundled or any(text.startswith(starts) for text in given):
        scene.add("high", "Runs a program in {}, which is not checked here", name)
    elif not command.words[1:] and (command.piped or command.redirects):
        scene.add("high", "Runs code that comes from another command, so it cannot be read", name)


def check_setup_py(scene: Scene, name: str, command: Command) -> None:
    """``setup.py install``."""
    if {"install", "develop"} & {word.text for word in command.words[1:]}:
        scene.add("high", "Installs or removes packages with {}", name)


def check_timeit(scene: Scene, name: str, command: Command) -> None:
    """``python -m timeit``: its operands are Python code."""
    for word in operands(command.words, frozenset({"-n", "-r", "-u"})):
        if word.literal:
            scene.read("python", word.text)
        else:
            scene.add("high", "Runs code that is partly computed, so it cannot be read", name)


def check_python_tool(scene: Scene, name: str, command: Command) -> None:
    """A module such as ``cProfile`` that runs the script it is given."""
    for word in operands(command.words, frozenset({"-o", "-s", "-c", "-m"}))[:1]:
        run_file(scene, name, word, "python")


def check_script(scene: Scene, name: str, command: Command) -> None:
    """``script`` and ``flock``: the value of ``-c`` is shell text."""
    words = command.words
    for word, after in pairwise(words):
        if word.text in ("-c", "--command"):
            run_text(scene, name, after)
