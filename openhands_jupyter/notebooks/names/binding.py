"""Which names a piece of Python binds in its own scope."""

from __future__ import annotations

import ast
from collections.abc import Iterable

_OWN_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPREHENSION = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def binds(node: ast.AST) -> list[str]:
    """The names that one node binds by itself."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()):
            return [name]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Import(names=aliases):
            return [alias.asname or alias.name.partition(".")[0] for alias in aliases]
        case ast.ImportFrom(names=aliases):
            return [alias.asname or alias.name for alias in aliases if alias.name != "*"]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            return [name]
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            return [name]
    return []


def bound_in(nodes: Iterable[ast.AST]) -> tuple[set[str], set[str]]:
    """The names that nodes bind in the scope that they stand in, and those declared global."""
    bound: set[str] = set()
    global_names: set[str] = set()
    waiting = [(node, False) for node in nodes]
    while waiting:
        node, in_comprehension = waiting.pop()
        if isinstance(node, ast.Global):
            global_names.update(node.names)
        if not in_comprehension:
            bound.update(binds(node))
        elif isinstance(node, ast.NamedExpr):
            bound.update(binds(node.target))
        if not isinstance(node, _OWN_SCOPE):
            inside = in_comprehension or isinstance(node, _COMPREHENSION)
            waiting += [(child, inside) for child in ast.iter_child_nodes(node)]
    return bound, global_names


def parameters(arguments: ast.arguments) -> set[str]:
    """The names of a function's parameters."""
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    named += filter(None, [arguments.vararg, arguments.kwarg])
    return {argument.arg for argument in named}
