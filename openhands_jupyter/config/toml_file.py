"""A file of TOML, with the lines that its keys stand on."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import tomlkit
from tomlkit.exceptions import ParseError, TOMLKitError

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

KeyPath = tuple[str | int, ...]
"""The keys that lead to a value; numbers, from 0, are places in lists."""

_MAX_LENGTH = 200_000
"""Bytes of a file that lines are told of, so that reading one stays quick."""


class NotToml(ValueError):
    """The text is no TOML.

    Attributes
    ----------
    line
        Where it stops to be, from 1; None where that is not known.
    """

    def __init__(self, message: str, line: int | None) -> None:
        super().__init__(message)
        self.line = line


class TomlFile:
    """What a file of TOML says, and where.

    tomlkit reads the values. It does not tell where they stand, which tree-sitter's grammar does.

    Parameters
    ----------
    content
        The file.

    Raises
    ------
    NotToml
        When it is none.

    Attributes
    ----------
    values
        What it says.
    """

    def __init__(self, content: bytes) -> None:
        try:
            self.values: dict[str, Any] = tomlkit.parse(content.decode()).unwrap()
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise NotToml("it is not written in UTF-8", line) from error
        except ParseError as error:
            said = str(error).rpartition(" at line ")[0] or str(error)
            raise NotToml(said.rstrip("."), error.line) from error
        except (TOMLKitError, ValueError, RecursionError) as error:
            raise NotToml(
                str(error).rstrip(".") or "it is nested too deep", _twice(content)
            ) from error
        self._lines: dict[KeyPath, int] = {}
        for path, line in _lines(content):
            self._lines.setdefault(path, line)

    def line(self, *path: str | int) -> int | None:
        """The line of a key, from 1; of the nearest above it where its own is not known."""
        for end in range(len(path), 0, -1):
            if found := self._lines.get(path[:end]):
                return found
        return None


@cache
def _parser() -> Parser:
    # Loaded when there is a file to read, which most people do not have.
    import tree_sitter_toml
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_toml.language()))


def _lines(content: bytes) -> Iterator[tuple[KeyPath, int]]:
    """Each key of the file with its line; a section also with those of the sections in it."""
    if len(content) > _MAX_LENGTH:
        return
    seen: dict[KeyPath, int] = {}
    for node in _parser().parse(content).root_node.named_children:
        if node.type == "pair":
            yield from _pair((), node)
        elif node.type in ("table", "table_array_element"):
            head, *rest = node.named_children
            path: KeyPath = _keys(head)
            yield from _above(path, head)
            if node.type == "table_array_element":
                seen[path] = seen.get(path, -1) + 1
                path = (*path, seen[path])
                yield path, _line(head)
            for pair in rest:
                if pair.type == "pair":
                    yield from _pair(path, pair)


def _pair(path: KeyPath, node: Node) -> Iterator[tuple[KeyPath, int]]:
    key, *rest = node.named_children
    own = (*path, *_keys(key))
    yield from _above(own, key, len(path))
    for value in rest:
        yield from _value(own, value)


def _value(path: KeyPath, node: Node) -> Iterator[tuple[KeyPath, int]]:
    if node.type == "inline_table":
        for pair in node.named_children:
            if pair.type == "pair":
                yield from _pair(path, pair)
    elif node.type == "array":
        items = [child for child in node.named_children if child.type != "comment"]
        for index, item in enumerate(items):
            yield (*path, index), _line(item)
            yield from _value((*path, index), item)


def _above(path: KeyPath, node: Node, known: int = 0) -> Iterator[tuple[KeyPath, int]]:
    """A key, and those of its parts that stand nowhere else."""
    for end in range(known + 1, len(path) + 1):
        yield path[:end], _line(node)


def _keys(node: Node) -> tuple[str, ...]:
    if node.type == "dotted_key":
        return tuple(key for child in node.named_children for key in _keys(child))
    text = (node.text or b"").decode()
    # A quoted key may have any escape that a string may have.
    return (next(iter(tomllib.loads(f"{text} = 0"))),) if node.type == "quoted_key" else (text,)


def _line(node: Node) -> int:
    return node.start_point.row + 1


def _twice(content: bytes) -> int | None:
    """The line of the first key that is there a second time."""
    seen: set[KeyPath] = set()
    for node in _parser().parse(content[:_MAX_LENGTH]).root_node.named_children:
        is_table = node.type == "table"
        path = _keys(node.named_children[0]) if is_table else ()
        for pair in node.named_children[1:] if is_table else [node]:
            if pair.type == "pair":
                own = (*path, *_keys(pair.named_children[0]))
                if own in seen:
                    return _line(pair)
                seen.add(own)
    return None
