"""Rules for IPython cells: shell escapes and magics, taken apart as IPython does it."""

from __future__ import annotations

import re

from ..ipython_code import TooMuchCode, parse, parse_cell
from .python import MAX_LENGTH, check_tree
from .scene import Scene, TooComplex
from .wordlist import name_set

_SHELL_LINES = name_set("system sx sc ! !!")
_SHELL_ALIASES = name_set("rm mv cp ln rmdir mkdir cat ls ll lf lk ldir lx less more man clear ps")
_INSTALLERS = name_set("pip conda mamba micromamba uv apt apt-get npm")
_PYTHON_LINES = name_set("time timeit prun memit mprun lprun snakeviz debug pinfo")
_PYTHON_CELLS = _PYTHON_LINES | name_set("capture python python3 pypy px ipytest pyinstrument")
_SHELL_CELLS = name_set("bash sh zsh ksh dash system sx ! !! shell")
_TEXT_CELLS = name_set("html svg latex markdown javascript js writefile file mermaid")
_HARMLESS_LINES = name_set(
    "matplotlib config who whos who_ls env set_env load_ext reload_ext unload_ext autoreload "
    "precision pprint pylab colors pdb tb xmode page history hist recall dhist dirs pwd lsmagic "
    "magic quickref psearch pdoc pdef psource pfile pinfo2 reset reset_selective xdel store "
    "autocall automagic autosave alias unalias rehashx gui bookmark logstop logstate profile "
    "doctest_mode kernel connect_info pastebin notebook save logstart edit load loadpy macro "
    "rerun rep cd pushd popd run alias_magic killbgscripts subshell code_wrap"
)
_COMMENT_OPTIONS = re.compile(r"(\s*-{1,2}[\w-]+(\s+\d+|=\S+)?)*\s*")


def check_cell(scene: Scene, code: str) -> None:
    """Note what a cell would do.

    Raises
    ------
    TooComplex
        When it cannot be looked through.
    """
    if len(code) > MAX_LENGTH:
        raise TooComplex(f"this much code ({len(code)} characters) is not checked")
    _check_automagic(scene, code)
    try:
        tree = parse_cell(code)
    except TooMuchCode as error:
        raise TooComplex(str(error)) from None
    except (SyntaxError, ValueError, MemoryError):
        scene.add("high", "Contains Python code that cannot be parsed")
        return
    check_tree(scene, tree, scene.kernel_names)


def _check_automagic(scene: Scene, code: str) -> None:
    """A one-line cell such as ``rm -rf [ab]`` is a magic to IPython even where it is Python."""
    line = code.strip()
    name, _, rest = line.partition(" ")
    if "\n" in line or not name.isidentifier() or rest.lstrip()[:1] in tuple("=,<>+*%^|&"):
        return
    if name in _SHELL_ALIASES | _INSTALLERS | {"run", "cd"}:
        check_line_magic(scene, name, rest)


def check_line_magic(scene: Scene, name: str, line: str) -> None:
    """Note what ``%name line`` would do."""
    if name in _SHELL_LINES:
        check_escape(scene, line.partition("=")[2] if name == "sc" else line)
    elif name in _SHELL_ALIASES or name in _INSTALLERS:
        check_escape(scene, f"{name} {line}")
    elif name in _PYTHON_LINES:
        scene.read("cell", _COMMENT_OPTIONS.sub("", line, count=1))
    elif name == "run":
        _run(scene, line)
    elif name in ("cd", "pushd"):
        scene.read("shell", f"cd {line or '~'}")
    elif name == "alias":
        _, _, command = line.strip().partition(" ")
        check_escape(scene, command)
    elif name == "alias_magic":
        scene.add("high", "Gives a magic another name", line)
    elif name in ("save", "notebook", "logstart", "edit", "store"):
        _written(scene, name, line)
    elif name == "connect_info":
        scene.add("high", "Connects to your own notebook kernel or server", "%connect_info")
    elif name == "pastebin":
        scene.network("%pastebin")
    elif name in ("load", "loadpy"):
        scene.touch(line.strip())
    elif name not in _HARMLESS_LINES:
        scene.add("medium", "Uses an IPython magic that is not known here", f"%{name}")


def _written(scene: Scene, name: str, line: str) -> None:
    words = [word for word in line.split() if not word.startswith("-")]
    if name == "store":
        words = line.split(">")[1:]
    for word in words[:1]:
        scene.write(word.strip())


def _run(scene: Scene, line: str) -> None:
    words = re.findall(r"'[^']*'|\"[^\"]*\"|\S+", line)
    if "-m" in words[:-1]:
        scene.read("shell", "python -m " + " ".join(words[words.index("-m") + 1 :]))
        return
    names = [word.strip("'\"") for word in words if not word.startswith("-")]
    for name in names[:1]:
        if re.search(r"[${*?\[]", name):
            scene.add("medium", "Runs a script whose name is only known at run time", name)
        else:
            language = "cell" if name.endswith((".ipy", ".ipynb")) else "python"
            scene.run_script(name, language)


def check_cell_magic(scene: Scene, name: str, line: str, body: str) -> None:
    """Note what ``%%name line`` with a body would do."""
    if name in _SHELL_CELLS:
        scene.read("shell", body)
    elif name in _PYTHON_CELLS:
        if name in _PYTHON_LINES and line.strip():
            scene.read("cell", _COMMENT_OPTIONS.sub("", line, count=1))
        scene.read("cell", body)
    elif name == "script":
        _script(scene, line, body)
    elif name in ("writefile", "file"):
        words = [word.strip("'\"") for word in line.split() if not word.startswith("-")]
        for word in words[:1]:
            scene.write(word, body)
    elif name not in _TEXT_CELLS:
        scene.add("high", "Uses a cell magic whose content is not checked here", f"%%{name}")


def _script(scene: Scene, line: str, body: str) -> None:
    """``%%script bash -e``: the body is the standard input of that command."""
    words = line.split()
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in ("--out", "--err", "--proc") else words[1:]
    marker = "OPENHANDS_BODY"
    while marker in body:
        marker += "_"
    scene.read("shell", f"{' '.join(words)} <<'{marker}'\n{body}\n{marker}\n")


def check_escape(scene: Scene, line: str) -> None:
    """Note what ``!line`` would do, where ``{…}`` and ``$name`` may be Python."""
    for inner in re.findall(r"(?<!\{)\{([^{}]+)\}", line):
        if not re.fullmatch(r"[\w.]+|[\w.]*(,[\w.]*)+|\w+\.\.\w+", inner):
            try:
                parse(inner.strip())
            except (SyntaxError, ValueError, MemoryError):
                continue
            scene.read("python", inner.strip())
    plain = line.replace("{{", "{").replace("}}", "}")
    replaced = re.sub(r"(?<!\{)\{[^{},]+\}", "$COMPUTED", line)
    scene.read(
        "shell",
        (plain if "$COMPUTED" not in replaced else replaced).replace("{{", "{").replace("}}", "}"),
    )
