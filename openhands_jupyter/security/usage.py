"""How a name is used in Python code: called on the spot, or handed on to something unseen."""

from __future__ import annotations

import ast

from .wordlist import name_set

# Functions that may be given a module or a function without running anything in it.
_LOOKERS = name_set("dir help print repr type id hasattr isinstance issubclass getattr vars reload")


class Usage:
    """Tells the uses of names that can be followed from those that cannot.

    Parameters
    ----------
    tree
        The whole code.
    """

    def __init__(self, tree: ast.AST) -> None:
        self._followed: set[int] = set()
        in_class: set[int] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                in_class.update(id(statement) for statement in node.body)
            self._note(node, id(node) in in_class)

    def is_followed(self, node: ast.AST) -> bool:
        """Whether what becomes of the thing named here is seen elsewhere in the code."""
        return id(node) in self._followed

    def _note(self, node: ast.AST, in_class: bool) -> None:
        match node:
            case ast.Call(func=function, args=arguments):
                self._follow(function)
                name = function.attr if isinstance(function, ast.Attribute) else ""
                if (function.id if isinstance(function, ast.Name) else name) in _LOOKERS:
                    self._follow(*arguments)
            case ast.Attribute(value=value) | ast.Subscript(value=value) | ast.Expr(value=value):
                self._follow(value)
            case ast.Assign(targets=[ast.Name()], value=value) if not in_class:
                self._follow(value)
            case ast.Assign(targets=[ast.Tuple()], value=ast.Tuple(elts=parts)) if not in_class:
                self._follow(*parts)
            case ast.NamedExpr(value=value):
                self._follow(value)
            case ast.arg(annotation=annotation) | ast.AnnAssign(annotation=annotation):
                self._annotation(annotation)
            case ast.FunctionDef(returns=annotation) | ast.AsyncFunctionDef(returns=annotation):
                self._annotation(annotation)

    def _follow(self, *nodes: ast.expr) -> None:
        self._followed.update(id(node) for node in nodes)

    def _annotation(self, node: ast.expr | None) -> None:
        if node is not None:
            self._followed.update(id(part) for part in ast.walk(node))
