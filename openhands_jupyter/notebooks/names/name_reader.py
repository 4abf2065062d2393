"""Follows the names through the code of a cell."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ...ipython_code import parse_cell
from .binding import binds, bound_in, parameters
from .magics import Magic, magic_of

MUTATORS = frozenset(
    {"append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "update", "add"}
    | {"discard", "setdefault", "popitem", "fit", "partial_fit", "fit_transform"}
)
"""Methods that are taken to change the object that they are called on."""


@dataclass(frozen=True)
class CellNames:
    """What a cell does with names of the kernel.

    Attributes
    ----------
    defines
        Names that it binds.
    changes
        Names whose objects it changes in place, as far as its code shows it.
    uses
        Names that have to be there before it runs; Python's own are among them.
    uses_later
        Names that its functions need when they are called.
    modules
        Names that it binds by ``import``, whose objects no cell is taken to change.
    opaque
        Whether it may bind names that its code does not show, such as by ``import *``.
    readable
        Whether it is Python at all.
    """

    defines: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()
    uses: frozenset[str] = frozenset()
    uses_later: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()
    opaque: bool = False
    readable: bool = True


@dataclass
class _Scope:
    """A function, a class body or a comprehension, and what is bound in it."""

    bound: set[str]
    is_class: bool = False
    is_comprehension: bool = False
    global_names: set[str] = field(default_factory=set)


class Reader(ast.NodeVisitor):
    """Follows code in the order in which it runs; bodies of functions come last."""

    def __init__(self, tree: ast.Module) -> None:
        self._defines: set[str] = set()
        self._changes: set[str] = set()
        self._uses: set[str] = set()
        self._later: set[str] = set()
        self._opaque = False
        self._scopes: list[_Scope] = []
        self._bodies: list[tuple[list[_Scope], ast.AST]] = []
        self._in_function = False
        self._modules: set[str] = set()
        self._read(tree)

    def names(self) -> CellNames:
        return CellNames(
            defines=frozenset(self._defines),
            changes=frozenset(self._changes - self._defines),
            uses=frozenset(self._uses),
            uses_later=frozenset(self._later - self._uses),
            modules=frozenset(self._modules),
            opaque=self._opaque,
        )

    def _read(self, tree: ast.Module) -> None:
        self._all(tree.body)
        self._in_function = True
        while self._bodies:
            self._scopes, node = self._bodies.pop()
            self._function_body(node)
        self._scopes = []

    def _all(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def _use(self, name: str) -> None:
        if not self._is_local(name) and name not in self._defines:
            (self._later if self._in_function else self._uses).add(name)

    def _bind(self, name: str) -> None:
        scope = next((s for s in reversed(self._scopes) if not s.is_comprehension), None)
        if scope is None or name in scope.global_names:
            self._defines.add(name)
        else:
            scope.bound.add(name)

    def _change(self, node: ast.expr) -> None:
        while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
            node = node.value
        if isinstance(node, ast.Name) and not self._is_local(node.id):
            self._changes.add(node.id)

    def _is_local(self, name: str) -> bool:
        for depth, scope in enumerate(reversed(self._scopes)):
            if name in scope.global_names:
                return False
            if name in scope.bound and not (scope.is_class and depth > 0):
                return True
        return False

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._use(node.id)
        elif isinstance(node.ctx, ast.Del):
            self._use(node.id)
            self._change(node)
        else:
            self._bind(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.visit(node.value)
        if not isinstance(node.ctx, ast.Load):
            self._change(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self._all([node.value, node.slice])
        if not isinstance(node.ctx, ast.Load):
            self._change(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._all([node.value, *node.targets])

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._all([node.annotation, node.value])
        if node.value is not None or not isinstance(node.target, ast.Name):
            self.visit(node.target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self._use(node.target.id)
        self._all([node.value, node.target])

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self._all([node.value, node.target])

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self._all([node.iter, node.target, *node.body, *node.orelse])

    visit_AsyncFor = visit_For

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for name in binds(node):
            self._bind(name)
            if not self._scopes and isinstance(node, ast.Import):
                self._modules.add(name)
        self._opaque = self._opaque or any(alias.name == "*" for alias in node.names)

    visit_ImportFrom = visit_Import

    def visit_Global(self, node: ast.Global) -> None:
        if self._scopes:
            self._scopes[-1].global_names.update(node.names)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        # The name is gone after the handler, so that it is none that the cell gives.
        known = node.name is None or node.name in self._defines
        self._all([node.type])
        if node.name:
            self._bind(node.name)
        self._all(node.body)
        if not known and not self._scopes and node.name:
            self._defines.discard(node.name)

    def generic_visit(self, node: ast.AST) -> None:
        if isinstance(node, (ast.MatchAs, ast.MatchStar, ast.MatchMapping)):
            for name in binds(node):
                self._bind(name)
        super().generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        arguments = node.args
        self._all([*node.decorator_list, *arguments.defaults, *arguments.kw_defaults, node.returns])
        self._all(argument.annotation for argument in ast.walk(arguments)
                  if isinstance(argument, ast.arg))  # fmt: skip
        self._bind(node.name)
        self._bodies.append((list(self._scopes), node))

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._all([*node.args.defaults, *node.args.kw_defaults])
        self._bodies.append((list(self._scopes), node))

    def _function_body(self, node: ast.AST) -> None:
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        bound, global_names = bound_in(body)
        scope = _Scope((parameters(node.args) | bound) - global_names, global_names=global_names)
        self._scopes = [*self._scopes, scope]
        self._all(body)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._all([*node.decorator_list, *node.bases, *node.keywords])
        self._scopes = [*self._scopes, _Scope(set(), is_class=True)]
        self._all(node.body)
        self._scopes = self._scopes[:-1]
        self._bind(node.name)

    def visit_ListComp(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> None:
        self.visit(node.generators[0].iter)
        targets, _ = bound_in([generator.target for generator in node.generators])
        self._scopes = [*self._scopes, _Scope(targets, is_comprehension=True)]
        for number, generator in enumerate(node.generators):
            self._all([generator.iter if number else None, *generator.ifs])
        self._all([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])
        self._scopes = self._scopes[:-1]

    visit_SetComp = visit_ListComp
    visit_GeneratorExp = visit_ListComp
    visit_DictComp = visit_ListComp

    def visit_Call(self, node: ast.Call) -> None:
        function = node.func
        if isinstance(function, ast.Attribute):
            if _is_shell(function.value):
                self._magic(magic_of(function.attr, list(_texts(node.args))))
                return
            in_place = any(
                word.arg == "inplace" and getattr(word.value, "value", False) is True
                for word in node.keywords
            )
            if function.attr in MUTATORS or in_place:
                self._change(function.value)
        elif isinstance(function, ast.Name) and function.id in ("exec", "globals"):
            self._opaque = True
        self.generic_visit(node)

    def _magic(self, magic: Magic) -> None:
        for expression in magic.expressions:
            try:
                self.visit(ast.parse(expression, mode="eval").body)
            except (SyntaxError, ValueError):
                continue
        for name in magic.binds:
            self._bind(name)
        self._opaque = self._opaque or magic.opaque
        if magic.code:
            before = set(self._defines)
            self._all(parse_cell(magic.code).body)
            if not magic.keeps:
                self._defines = before


def _is_shell(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "get_ipython"
    )


def _texts(nodes: Iterable[ast.expr]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
