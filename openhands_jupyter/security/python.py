"""Rules for Python code: what it deletes, writes, runs and connects to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..ipython_code import parse
from . import python_names as known
from .bash_words import Command, Word
from .resolve import UNKNOWN, Names
from .scene import Scene, TooComplex
from .shell import check_command
from .usage import Usage

MAX_LENGTH = 256_000
_URL = re.compile(r"(https?|ftp|s3|gs|hf)://", re.IGNORECASE)
_TELLING = re.compile(
    r"\.ssh|\.gnupg|\.aws|\.kube|netrc|\.env|id_(rsa|dsa|ec|ed)|/etc/|/proc/|\.pypirc|\.git-cred|"
    r"\.openhands|runtime|kernel-|server-|cookie_secret|\.config/|_history|\.docker|\.pgpass|"
    r"\.npmrc|\.azure|keyrings|\.kaggle|huggingface"
)
_DANGEROUS = frozenset(name.rpartition(".")[2] for name in known.RUNNERS | known.DELETES)
_COMPUTED = "(computed)"


def check_python(scene: Scene, code: str) -> None:
    """Note what Python code would do.

    Raises
    ------
    TooComplex
        When it cannot be looked through.
    """
    if len(code) > MAX_LENGTH:
        raise TooComplex(f"this much Python code ({len(code)} characters) is not checked")
    try:
        tree = parse(code)
    except (SyntaxError, ValueError, MemoryError):
        scene.add("high", "Contains Python code that cannot be parsed")
        return
    check_tree(scene, tree)


def check_tree(scene: Scene, tree: ast.Module, before: dict[str, list[str]] | None = None) -> None:
    """Note what parsed Python code would do, given the names that earlier code bound."""
    _Check(scene, Names(tree, before), Usage(tree)).run(tree)


class _Check:
    def __init__(self, scene: Scene, names: Names, usage: Usage) -> None:
        self.scene = scene
        self.names = names
        self.usage = usage

    def run(self, tree: ast.Module) -> None:
        for module in self.names.imported:
            self._module(module)
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.expr)]
        for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
            match node:
                case ast.Call():
                    self._call(node)
                case ast.Name() | ast.Attribute() if isinstance(node.ctx, ast.Load):
                    self._reference(node)
                case ast.Subscript(ctx=ast.Load()):
                    self._lookup(node)
                case ast.Constant(value=str() as text):
                    self._text(text)

    def _module(self, module: str) -> None:
        prefixes = {module} | {module[:i] for i, char in enumerate(module) if char == "."}
        for found in sorted(prefixes & known.NETWORK_MODULES):
            self.scene.network(found)
        if prefixes & known.KERNEL_MODULES:
            self.scene.add("high", "Connects to your own notebook kernel or server", module)
        if prefixes & known.INSTALLER_MODULES:
            self.scene.add("high", "Installs or removes packages with {}", module)
        if prefixes & {"ctypes", "cffi", "marshal"}:
            self.scene.add("high", "Uses code that cannot be read here", module)

    def _reference(self, node: ast.Name | ast.Attribute) -> None:
        """A dangerous function counts however it is used, called or handed on."""
        attribute = node.attr if isinstance(node, ast.Attribute) else node.id
        if attribute in known.GADGETS:
            self.scene.add(
                "high", "Reaches into Python in a way that hides what it does", attribute
            )
        if isinstance(node, ast.Attribute) and attribute in known.DELETING_METHODS:
            self.scene.add("high", "Deletes files")
        self._meanings(node)

    def _meanings(self, node: ast.expr) -> None:
        for name in self.names.dotted(node):
            self._referred(name)
            if not self.usage.is_followed(node):
                self._unfollowed(name)

    def _referred(self, name: str) -> None:
        if name in known.DELETES:
            self.scene.add("high", "Deletes files")
        elif name in known.PRIVILEGE_CALLS:
            self.scene.add("high", "Asks for rights beyond the sandbox", name)
        elif name in known.UNREADABLE:
            self.scene.add("high", "Uses code that cannot be read here", name)
        elif name in known.INSTALLER_CALLS:
            self.scene.add("high", "Installs or removes packages with {}", name)
        elif name in known.KERNEL_CALLS:
            self.scene.add("high", "Connects to your own notebook kernel or server", name)
        elif name in known.NETWORK_CALLS:
            self.scene.network(name)
        elif name.removesuffix(".__dict__") != name and _guarded(name.removesuffix(".__dict__")):
            self.scene.add("high", "Reaches into Python in a way that hides what it does", name)
        elif name.startswith("sys.modules.") and name != "sys.modules.get":
            self.scene.add("high", "Looks up functions by a computed name", name)

    def _unknown(self, name: str) -> bool:
        """Whether a name with too many meanings is used as something dangerous may be."""
        owner, _, attribute = name.rpartition(".")
        return name == UNKNOWN or (owner == UNKNOWN and attribute in _DANGEROUS)

    def _unfollowed(self, name: str) -> None:
        if name in known.RUNNERS or name in known.CODE_CALLS:
            self._handed_on(name)
        elif name in known.HANDED_ON_MODULES:
            self.scene.add("high", "Hands a module on, so it cannot be told what is used", name)

    def _lookup(self, node: ast.Subscript) -> None:
        if self.names.text(node.slice) is None and any(
            name in known.GUARDED_MODULES or name in ("sys.modules", "globals()")
            for name in self.names.dotted(node.value)
        ):
            self.scene.add("high", "Looks up functions by a computed name")
        self._meanings(node)

    def _text(self, text: str) -> None:
        if len(text) > 500 or re.search(r"\s", text.strip()) or not _TELLING.search(text):
            return
        if self.scene.places.is_credential(text) or self.scene.places.is_kernel(text):
            self.scene.touch(text)

    def _call(self, node: ast.Call) -> None:
        self._meanings(node)
        names = self.names.dotted(node.func)
        for name in names:
            self._called_name(name, node)
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        self._methods(node, method or (names[0] if names else ""))
        self._urls(node, method or (names[0] if names else ""))

    def _called_name(self, name: str, node: ast.Call) -> None:
        if self._unknown(name):
            self.scene.add("high", "Uses a name that stands for too many things to be followed")
        elif name in known.RUNNERS:
            self._runner(name, node)
        elif name in known.DELETES:
            self._delete(node)
        elif name in known.CODE_CALLS:
            self._code(name, node)
        elif name in ("__import__", "importlib.import_module", "importlib.__import__"):
            self._import(node)
        elif name in ("getattr", "operator.attrgetter", "operator.methodcaller", "setattr"):
            self._getattr(name, node)
        elif name in ("open", "io.open", "codecs.open", "os.open"):
            self._open(node)
        elif name in known.WRITE_CALLS:
            self._writes(node, known.WRITE_CALLS[name])
        elif name == "sys.modules.get" and not (node.args and self.names.text(node.args[0])):
            self.scene.add("high", "Looks up functions by a computed name", name)
        elif name == "vars" and any(map(_guarded, self._owners(node))):
            self.scene.add("high", "Reaches into Python in a way that hides what it does", name)
        elif name in known.MOVE_CALLS:
            self._move(node)
        elif name in ("os.kill", "os.killpg"):
            own = any(text in ast.dump(node)[:2000] for text in ("getpid", "getpgrp"))
            self.scene.add("low" if own else "medium", "Ends other processes")
        elif name in ("os.truncate", "os.ftruncate"):
            self.scene.add("high", "Cuts off the content of files", *self._named(node.args[:1]))
        elif name.startswith("get_ipython().") or name.endswith(
            (".run_line_magic", ".run_cell_magic")
        ):
            self._magic(name, node)
        elif name == "os.chdir":
            folder = self.names.path(node.args[0]) if node.args else None
            self.scene.cwd = self.scene.places.resolve(folder, self.scene.cwd) if folder else None
        if name == "os.chmod" and len(node.args) > 1:
            mode = node.args[1]
            if (
                isinstance(mode, ast.Constant)
                and isinstance(mode.value, int)
                and mode.value & 0o6000
            ):
                self.scene.add("high", "Gives a program the rights of its owner")

    def _owners(self, node: ast.Call) -> list[str]:
        return self.names.dotted(node.args[0]) if node.args else []

    def _named(self, nodes: list[ast.expr]) -> list[str]:
        return [path for path in (self.names.path(node) for node in nodes) if path is not None]

    def _delete(self, node: ast.Call) -> None:
        for path in self._named(node.args[:1]):
            self.scene.touch(path)
            outside = self.scene.places.place(path, self.scene.cwd) == "outside"
            where = "Deletes files outside the workspace" if outside else "Deletes files"
            self.scene.add("high", where, path)

    def _handed_on(self, name: str) -> None:
        self.scene.add("high", "Runs commands that are computed, so they cannot be read", name)

    def _runner(self, name: str, node: ast.Call) -> None:
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            self._handed_on(name)
            return
        if name in known.ARGUMENT_CALLS:
            self._words(name, node.args[known.ARGUMENT_CALLS[name] :])
            return
        position = known.LIST_CALLS.get(name, 0)
        keyword = [k.value for k in node.keywords if k.arg in ("args", "cmd", "command")]
        given = node.args[position : position + 1] or keyword
        if given:
            self._command(name, given[0])
        else:
            self._handed_on(name)

    def _command(self, name: str, node: ast.expr) -> None:
        if isinstance(node, ast.Name) and self.names.constants.get(node.id) is not None:
            node = self.names.constants[node.id] or node
        if isinstance(node, (ast.List, ast.Tuple)):
            self._words(name, node.elts)
        elif isinstance(node, ast.Call) and self.names.dotted(node.func) == ["shlex.split"]:
            self._command(name, node.args[0] if node.args else node)
        else:
            pieces = self.names.pieces(node)
            if pieces is None:
                self._handed_on(name)
            else:
                text = "".join("$COMPUTED" if piece is None else piece for piece in pieces)
                self.scene.read("escape" if name.startswith("get_ipython()") else "shell", text)

    def _words(self, name: str, nodes: list[ast.expr]) -> None:
        words = list(self._argument_words(nodes))
        if words:
            check_command(self.scene, Command(words))

    def _argument_words(self, nodes: list[ast.expr]) -> Iterator[Word]:
        for node in nodes:
            text = self.names.path(node)
            if text is not None:
                yield Word(text)
            elif "sys.executable" in self.names.dotted(node):
                yield Word("python")
            else:
                yield Word(_COMPUTED, literal=False)

    def _code(self, name: str, node: ast.Call) -> None:
        keyword = [k.value for k in node.keywords if k.arg in ("source", "stmt", "raw_cell")]
        given = node.args[:1] or keyword
        text = self.names.text(given[0]) if given else None
        if text is not None:
            self.scene.read("cell" if "run_cell" in name else "python", text)
        elif not self._is_code_object(given):
            self.scene.add("high", "Runs code that is computed, so it cannot be read", name)

    def _is_code_object(self, given: list[ast.expr]) -> bool:
        """``exec(compile("…"))``: the inner call is looked at by itself."""
        return (
            bool(given)
            and isinstance(given[0], (ast.Call, ast.Lambda))
            and (
                isinstance(given[0], ast.Lambda) or self.names.dotted(given[0].func) == ["compile"]
            )
        )

    def _import(self, node: ast.Call) -> None:
        module = self.names.text(node.args[0]) if node.args else None
        if module is None:
            self.scene.add("high", "Imports a module by a computed name")
        else:
            self._module(module)

    def _getattr(self, name: str, node: ast.Call) -> None:
        if name in ("getattr", "setattr"):
            wanted = node.args[1:2]
            owners = self._owners(node)
            guarded = any(map(_guarded, owners))
            text = self.names.text(wanted[0]) if wanted else None
            if guarded and (text is None or name == "setattr"):
                self.scene.add("high", "Looks up functions by a computed name", *owners)
            elif text in known.DELETING_METHODS:
                self.scene.add("high", "Deletes files")
            elif text in known.GADGETS:
                self.scene.add("high", "Reaches into Python in a way that hides what it does", text)
            return
        text = self.names.text(node.args[0]) if node.args else None
        if text is None or text in (known.DELETING_METHODS | {"remove", "system", "popen"}):
            self.scene.add("high", "Looks up functions by a computed name", text or name)

    def _open(self, node: ast.Call) -> None:
        keywords = {k.arg: k.value for k in node.keywords}
        path = self.names.path(node.args[0] if node.args else keywords.get("file"))
        if path is None:
            return
        mode_node = node.args[1] if len(node.args) > 1 else keywords.get("mode")
        mode = "r" if mode_node is None else self.names.text(mode_node)
        if mode is None or set(mode) & set("wax+"):
            self.scene.write(path)
        else:
            self.scene.touch(path)

    def _writes(self, node: ast.Call, positions: tuple[int, ...]) -> None:
        for position in positions:
            for path in self._named(node.args[position : position + 1]):
                if not _URL.match(path) and not path.startswith((":", "file:")):
                    self.scene.write(path)

    def _move(self, node: ast.Call) -> None:
        paths = [self.names.path(argument) for argument in node.args[:2]]
        words = [Word(_COMPUTED, literal=False) if p is None else Word(p) for p in paths]
        check_command(self.scene, Command([Word("mv"), *words]))

    def _methods(self, node: ast.Call, method: str) -> None:
        if not isinstance(node.func, ast.Attribute):
            return
        owner = node.func.value
        if method in known.WRITE_METHODS:
            self._writes(node, (0,))
        elif method in known.PATH_WRITES:
            for path in self._named([owner]):
                self.scene.write(path)
        elif method == "open" and (opened := self.names.path(owner)) is not None:
            mode = self.names.text(node.args[0]) if node.args else "r"
            if mode is None or set(mode) & set("wax+"):
                self.scene.write(opened)
            else:
                self.scene.touch(opened)
        elif method in known.DELETING_METHODS:
            self._delete(ast.Call(func=node.func, args=[owner], keywords=[]))
        elif method in ("rename", "replace") and len(node.args) == 1:
            if self._is_path(owner):
                self._move(ast.Call(func=node.func, args=[owner, *node.args], keywords=[]))
        elif method in ("read_text", "read_bytes", "iterdir", "glob") and self._is_path(owner):
            for path in self._named([owner]):
                self.scene.touch(path)

    def _is_path(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name) and self.names.constants.get(node.id) is not None:
            node = self.names.constants[node.id] or node
        names = self.names.dotted(node)
        return any(name.startswith("pathlib.Path") for name in names) or (
            isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
        )

    def _urls(self, node: ast.Call, name: str) -> None:
        if not name.rpartition(".")[2].startswith(known.READ_CALLS_WITH_URL):
            return
        for text in (self.names.text(argument) for argument in node.args[:2]):
            if text is not None and _URL.match(text):
                self.scene.network(text.partition("?")[0])

    def _magic(self, name: str, node: ast.Call) -> None:
        from .cells import check_cell_magic, check_line_magic

        texts = [self.names.text(argument) for argument in node.args[:3]]
        method = name.rpartition(".")[2]
        if method in ("run_line_magic", "magic", "run_cell_magic") and (
            not texts or any(text is None for text in texts)
        ):
            self.scene.add("high", "Runs an IPython magic that is computed")
            return
        given = [text or "" for text in texts]
        if method == "magic":
            check_line_magic(self.scene, *_name_and_rest(given[0]))
        elif method == "run_line_magic":
            check_line_magic(self.scene, given[0], given[1] if len(given) > 1 else "")
        elif method == "run_cell_magic":
            check_cell_magic(self.scene, *[*given, "", ""][:3])
        elif method == "safe_execfile":
            if given:
                self.scene.run_script(given[0], "python")
            else:
                self._handed_on(name)


def _guarded(name: str) -> bool:
    return name in known.GUARDED_MODULES


def _name_and_rest(text: str) -> tuple[str, str]:
    name, _, rest = text.strip().lstrip("%").partition(" ")
    return name, rest
