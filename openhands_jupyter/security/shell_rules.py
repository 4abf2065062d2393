"""What each shell command that matters would do, given its words."""

from __future__ import annotations

import re
from collections.abc import Callable

from . import code_rules as code
from . import commands as known
from . import file_rules as files
from .bash_words import Command, Word
from .git_rules import check_git
from .scene import Scene
from .shell_words import operands, option_values, options
from .wordlist import name_set

Rule = Callable[[Scene, str, Command], None]

_SCRIPT_RUNNERS = name_set("cProfile profile pdb trace runpy kernprof")
_NOT_PATHS = name_set("echo printf test alias true false export read set")


def check_operands(scene: Scene, name: str, command: Command) -> None:
    """What holds for every command: credential places, the person's kernels, output options."""
    words = command.words
    if name not in _NOT_PATHS:
        pattern = 1 if name in ("grep", "rg", "egrep", "fgrep", "ag", "ack", "sed", "awk") else 0
        skipped = operands(words)[:pattern]
        for word in words[1:]:
            value = word.text.partition("=")[2] if word.text.startswith("-") else word.text
            if value and word not in skipped and len(value) < 1000:
                scene.touch(value)
    for value in option_values(words, known.OUTPUT_OPTIONS.get(name, frozenset())):
        scene.write(value)
    if name in known.NETWORK:
        scene.network(name)
    if name in known.WRITERS:
        _check_written(scene, name, words)
    if name in known.INSTALLERS:
        _check_installer(scene, name, words)


def _check_written(scene: Scene, name: str, words: list[Word]) -> None:
    targets = operands(words, frozenset({"-t", "-m", "-o", "-g", "-S", "-e", "-i"}))
    if known.WRITERS[name] == "last":
        targets = targets[-1:] if len(targets) > 1 else []
    elif known.WRITERS[name] == "first":
        targets = targets[:1]
    elif name in ("chown", "chgrp", "chattr", "setfacl"):
        targets = targets[1:]
    for target in targets:
        if name == "rsync" and files.REMOTE.match(target.text):
            continue
        if target.literal or target.text.startswith(("/", "~", "..")):
            scene.write(target.text)


def _check_installer(scene: Scene, name: str, words: list[Word]) -> None:
    actions = known.INSTALLERS[name]
    rest = operands(words, frozenset({"-n", "-p", "-C", "--prefix", "--name", "--python"}))
    given = [word.text for word in rest]
    if name == "yarn" and not given:
        given = ["install"]
    if name == "uv" and given[:1] == ["run"] and "--with" not in [word.text for word in words]:
        scene.add("medium", "Runs a project with uv, which may install what it needs")
        return
    if name in ("npm", "pnpm", "yarn", "bun") and given[:1] in (["run"], ["test"], ["start"]):
        return
    if not actions and set(options(words)) & {"-l", "-s", "-L", "-q", "--version", "--list"}:
        return
    computed = any(not word.literal for word in rest[:1])
    if not actions or computed or any(word in actions for word in given[:2]):
        scene.add("high", "Installs or removes packages with {}", name)
        if given[:1] != ["uninstall"]:
            scene.network(name)


def _change_folder(scene: Scene, name: str, command: Command) -> None:
    targets = operands(command.words)
    if targets and targets[0].literal and not targets[0].glob and targets[0].text != "-":
        scene.cwd = scene.places.resolve(targets[0].text, scene.cwd)
    elif targets:
        scene.cwd = None
    elif name == "cd":
        scene.cwd = scene.places.resolve("~")


def _kill(scene: Scene, name: str, command: Command) -> None:
    targets = operands(command.words, frozenset({"-s", "-n", "--signal"}))
    own = all(re.match(r"[$%]", word.text) for word in targets)
    if not own and not set(options(command.words)) & {"-l", "-L", "--list"}:
        scene.add("medium", "Ends other processes", *(word.text for word in targets))


def _jupyter(scene: Scene, name: str, command: Command) -> None:
    words = [word.text for word in command.words]
    joined = " ".join(words[:3])
    if any(word.startswith("--existing") for word in words) or re.search(
        r"(console|qtconsole|run)\b|jupyter-(console|qtconsole)|(server|lab|notebook) (list|stop)"
        r"|--runtime-dir|--paths",
        joined,
    ):
        scene.add("high", "Connects to your own notebook kernel or server", joined)
    elif re.search(r"(labextension|serverextension|server extension|nbextension) ", joined + " "):
        if not {"list", "check"} & set(words):
            scene.add("high", "Installs or removes packages with {}", "jupyter")
    elif "kernelspec" in words and {"install", "remove", "uninstall"} & set(words):
        scene.add("high", "Installs or removes packages with {}", "jupyter")
    elif re.search(r"jupyter[ -](lab|notebook|server|kernelgateway)\b", joined):
        scene.add("medium", "Starts a Jupyter server of its own")


def _history(scene: Scene, name: str, command: Command) -> None:
    if {"-c", "-w", "-d"} & set(options(command.words)):
        scene.add("medium", "Changes the history of the shell")


def _http_server(scene: Scene, name: str, command: Command) -> None:
    scene.add("medium", "Starts a web server")


RULES: dict[str, Rule] = {
    **dict.fromkeys(known.SHELLS, code.check_shell),
    **dict.fromkeys(known.PYTHONS, code.check_python),
    **dict.fromkeys(known.DELETERS, files.check_delete),
    **dict.fromkeys(known.UNREAD_CODE, code.check_unread),
    **dict.fromkeys(known.KILLERS, _kill),
    **dict.fromkeys(("eval", "trap"), code.check_eval),
    **dict.fromkeys(("source", "."), code.check_source),
    **dict.fromkeys(("cd", "pushd", "popd"), _change_folder),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), code.check_awk),
    **dict.fromkeys(("sed", "gsed"), code.check_sed),
    **dict.fromkeys(("tar", "bsdtar", "zip"), files.check_archive),
    **dict.fromkeys(("jupyter", "jupyter-console", "jupyter-qtconsole"), _jupyter),
    **dict.fromkeys(("curl", "wget"), files.check_remote_get),
    **dict.fromkeys(("script", "flock"), code.check_script),
    **dict.fromkeys(
        ("cProfile", "profile", "pdb", "trace", "runpy", "kernprof"), code.check_python_tool
    ),
    **dict.fromkeys(("venv", "virtualenv"), files.check_venv),
    "chmod": files.check_chmod,
    "dd": files.check_dd,
    "find": code.check_find,
    "git": check_git,
    "history": _history,
    "http.server": _http_server,
    "mv": files.check_move,
    "rsync": files.check_rsync,
    "setup.py": code.check_setup_py,
    "timeit": code.check_timeit,
    "truncate": files.check_truncate,
}
