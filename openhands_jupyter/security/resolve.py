"""What names and constant expressions in Python code stand for, as far as the text tells."""

from __future__ import annotations

import ast
import re
from collections import Counter

from .python_names import STAR_MODULES

_MODULE_ALIASES = {"posix": "os", "nt": "os", "posixpath": "os.path", "__builtins__": "builtins"}
_IMPORTERS = ("__import__", "importlib.import_module", "importlib.__import__")
_HOME = ("pathlib.Path.home", "pathlib.Path.expanduser")
_PATHS = ("pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath", "str", "os.fspath")
_INNER_MODULE = re.compile(r"^.*\.(?=(os|sys|shutil|subprocess|builtins|importlib)(\.|$))")
_IPYTHON = re.compile(
    r"^IPython\.(core\.(getipython|interactiveshell)\.)?(get_ipython|InteractiveShell\.instance)"
)
MAX_DEPTH = 40
MAX_MEANINGS = 16
UNKNOWN = "(unknown)"


class Names:
    """The names that a piece of code gives to modules, functions and constants.

    Parameters
    ----------
    tree
        The whole code. A name bound to several things stands for all of them, since the order in
        which code runs cannot be told.
    before
        Names bound by code that ran before in the same interpreter; new ones are added to it.
    """

    def __init__(self, tree: ast.AST, before: dict[str, list[str]] | None = None) -> None:
        self.bound: dict[str, list[str]] = {} if before is None else before
        self.constants: dict[str, ast.expr | None] = {}
        self.imported: list[str] = []
        nodes = list(ast.walk(tree))
        for node in nodes:
            self._imports(node)
        for node in nodes:
            self._assignments(node)
        counts = Counter(name for node in nodes for name in _names_bound(node))
        for name in [name for name in self.constants if counts[name] != 1]:
            self.constants[name] = None

    def _imports(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                self.imported.append(alias.name)
                root = alias.name if alias.asname else alias.name.partition(".")[0]
                self._bind(alias.asname or root, _canonical(root))
        elif isinstance(node, ast.ImportFrom):
            module = _canonical(node.module or "")
            self.imported.append(module)
            for alias in node.names:
                if alias.name == "*":
                    if module in STAR_MODULES:
                        self._bind("*", module)
                else:
                    self.imported.append(f"{module}.{alias.name}")
                    self._bind(alias.asname or alias.name, _canonical(f"{module}.{alias.name}"))

    def _assignments(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            targets, value = [node.target], node.value
        else:
            return
        for target in targets:
            if isinstance(target, (ast.Tuple, ast.List)) and isinstance(
                value, (ast.Tuple, ast.List)
            ):
                for name, part in zip(target.elts, value.elts, strict=False):
                    self._assign(name, part)
            else:
                self._assign(target, value)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if not isinstance(target, ast.Name):
            return
        self.constants[target.id] = value
        for name in self.dotted(value):
            self._bind(target.id, name)

    def _bind(self, name: str, meaning: str) -> None:
        meanings = self.bound.setdefault(name, [])
        if meaning not in meanings and len(meanings) <= MAX_MEANINGS:
            meanings.append(meaning if len(meanings) < MAX_MEANINGS else UNKNOWN)

    def dotted(self, node: ast.expr, depth: int = 0) -> list[str]:
        """The dotted names that an expression may stand for, such as ``os.remove``."""
        if depth > MAX_DEPTH:
            return []
        match node:
            case ast.Name(id=name):
                stars = [_canonical(f"{module}.{name}") for module in self.bound.get("*", [])]
                return [*self.bound.get(name, [_canonical(name)]), *stars]
            case ast.Attribute(value=value, attr=attribute):
                return self._inside(value, attribute, depth)
            case ast.Subscript(value=value, slice=index):
                return self._subscript(value, self.text(index, depth + 1), depth)
            case ast.Call(func=function, args=arguments):
                return self._called(self.dotted(function, depth + 1), arguments, depth)
            case ast.NamedExpr(value=value) | ast.Starred(value=value):
                return self.dotted(value, depth + 1)
            case ast.IfExp(body=first, orelse=second):
                return self.dotted(first, depth + 1) + self.dotted(second, depth + 1)
            case ast.BoolOp(values=values):
                return [name for value in values for name in self.dotted(value, depth + 1)]
        return []

    def _inside(self, value: ast.expr, attribute: str, depth: int) -> list[str]:
        owners = self.dotted(value, depth + 1)
        if attribute == "__dict__":
            return [*owners, *(f"{owner}.__dict__" for owner in owners)]
        return [_canonical(f"{owner}.{attribute}") for owner in owners]

    def _subscript(self, value: ast.expr, key: str | None, depth: int) -> list[str]:
        if key is None:
            return []
        owners = self.dotted(value, depth + 1)
        spaces = ("sys.modules", "globals()", "locals()", "vars()")
        named = self.bound.get(key, [_canonical(key)])
        return [
            name
            for owner in owners
            for name in (named if owner in spaces else [_canonical(f"{owner}.{key}")])
        ]

    def _called(self, functions: list[str], arguments: list[ast.expr], depth: int) -> list[str]:
        found: list[str] = []
        texts = [self.text(argument, depth + 1) for argument in arguments[:2]]
        for function in functions:
            if function in _IMPORTERS:
                found += [_canonical(texts[0])] if texts and texts[0] else []
            elif function in ("getattr", "builtins.getattr") and len(texts) > 1 and texts[1]:
                found += self._inside(arguments[0], texts[1], depth)
            elif function in ("vars", "builtins.vars") and arguments:
                found += self.dotted(arguments[0], depth + 1)
            elif function in ("sys.modules.get", "globals().get") and texts and texts[0]:
                found.append(_canonical(texts[0]))
            elif function in ("functools.partial", "staticmethod") and arguments:
                found += self.dotted(arguments[0], depth + 1)
            else:
                found.append(f"{function}()")
        return found

    def text(self, node: ast.expr | None, depth: int = 0) -> str | None:
        """The constant text of an expression; None if it is not constant."""
        pieces = self.pieces(node, depth)
        return None if pieces is None or None in pieces else "".join(p for p in pieces if p)

    def pieces(self, node: ast.expr | None, depth: int = 0) -> list[str | None] | None:
        """The parts of a text, None for each that is computed; None if nothing can be told."""
        if node is None or depth > MAX_DEPTH:
            return None
        match node:
            case ast.Constant(value=str() as value):
                return [value]
            case ast.Constant(value=bytes() as value):
                return [value.decode("utf-8", "replace")]
            case ast.JoinedStr(values=values):
                return [
                    piece for value in values for piece in self.pieces(value, depth + 1) or [None]
                ]
            case ast.FormattedValue(value=value):
                return self.pieces(value, depth + 1) or [None]
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._concatenated(left, right, depth)
            case ast.Name(id=name) if self.constants.get(name) is not None:
                return self.pieces(self.constants[name], depth + 1)
            case ast.Call(func=ast.Attribute(value=value, attr="format" | "strip"), args=_):
                inner = self.pieces(value, depth + 1)
                return [*inner, None] if inner else None
        return None

    def _concatenated(self, left: ast.expr, right: ast.expr, depth: int) -> list[str | None] | None:
        first, second = self.pieces(left, depth + 1), self.pieces(right, depth + 1)
        if first is None and second is None:
            return None
        return [*(first or [None]), *(second or [None])]

    def path(self, node: ast.expr | None, depth: int = 0) -> str | None:
        """The constant path of an expression; None if it is not constant."""
        if node is None or depth > MAX_DEPTH:
            return None
        match node:
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                first, second = self.path(left, depth + 1), self.path(right, depth + 1)
                return f"{first}/{second}" if first is not None and second is not None else None
            case ast.Call(func=function, args=arguments):
                return self._path_call(function, arguments, depth)
            case ast.Name(id=name) if self.constants.get(name) is not None:
                return self.path(self.constants[name], depth + 1)
        return self.text(node, depth)

    def _path_call(self, function: ast.expr, arguments: list[ast.expr], depth: int) -> str | None:
        names = self.dotted(function)
        if any(name.endswith(_HOME) for name in names) and not arguments:
            if isinstance(function, ast.Attribute) and function.attr == "expanduser":
                return self.path(function.value, depth + 1)
            return "~"
        if any(name in ("os.getcwd", "pathlib.Path.cwd") for name in names):
            return "."
        if any(name in (*_PATHS, "os.path.join") for name in names):
            parts = [self.path(argument, depth + 1) for argument in arguments]
            known = [part for part in parts if part is not None]
            return "/".join(known) or "." if len(known) == len(parts) else None
        if any(name.startswith("os.path.") for name in names) and arguments:
            return self.path(arguments[0], depth + 1)
        if isinstance(function, ast.Attribute) and function.attr in ("expanduser", "resolve"):
            return self.path(function.value, depth + 1)
        return None


def _names_bound(node: ast.AST) -> list[str]:
    """The names that a node binds; a name bound more than once has no constant value."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            return [name]
        case ast.alias(name=name, asname=alias):
            return [alias or name]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            return [name]
        case ast.AugAssign(target=ast.Name(id=name)) | ast.For(target=ast.Name(id=name)):
            return [name]
        case ast.comprehension(target=ast.Name(id=name)):
            return [name]
    return []


def _canonical(name: str) -> str:
    """One name for what has several: ``pathlib.os.remove`` is ``os.remove``."""
    name = _INNER_MODULE.sub("", name)
    root, dot, rest = name.partition(".")
    name = _MODULE_ALIASES.get(root, root) + dot + rest
    name = name.removeprefix("builtins.") if name.startswith("builtins.") else name
    return _IPYTHON.sub("get_ipython", name)
