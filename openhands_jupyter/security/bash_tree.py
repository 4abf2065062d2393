"""Shell text as a list of commands, by way of tree-sitter's Bash grammar."""

from __future__ import annotations

import re
import time
from functools import cache
from itertools import pairwise

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from .bash_words import Command, Redirect, Script, Word
from .scene import TooComplex
from .wordlist import name_set

# On malformed text the parser may need time and memory that grow with the square of the length
# (measured: 16 kB of "a|" took 560 MB), and a native library cannot be stopped from outside.
MAX_LENGTH = 16_000
MAX_PIPES = 1_000
MAX_SECONDS = 0.5

# The grammar takes a line that begins with a backslash for a part of the line before.
_BACKSLASH_LINE = re.compile(r"(?<!\\)((?:\\\\)*)\n(?=\\)")
_BEFORE_COMMENT = re.compile(rb"(?<!\\)[\s;|&()<>`{]|\A")
# The grammar's scanner looks characters up in tables made for bytes: some that are not ASCII crash
# the whole process (seen with tree-sitter-bash 0.25.1). To Bash they are all ordinary letters.
_ASCII = bytes(range(128)) + b"." * 128
# Where one of these is a command's name, the grammar and Bash understand the text differently.
_RESERVED = name_set("if then else elif fi case esac for select while until do done in function")

_KNOWN_VARIABLES = {"HOME": "~", "PWD": ".", "TMPDIR": "/tmp"}
_DYNAMIC = {
    "simple_expansion",
    "expansion",
    "command_substitution",
    "process_substitution",
    "arithmetic_expansion",
    "brace_expression",
}
_NO_WORDS = ("herestring_redirect", "heredoc_redirect", "comment", "ERROR")
_GLOB = re.compile(r"(?<!\\)[*?\[{]")
_ANSI = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c(.)|(.))",
    re.DOTALL,
)
_ANSI_LETTERS = dict(zip("abeEfnrtv", "\a\b\x1b\x1b\f\n\r\t\v", strict=True))


@cache
def _language() -> Language:
    return Language(tree_sitter_bash.language())


def parse(text: str) -> Script:
    """Take shell text apart.

    Raises
    ------
    TooComplex
        When it is too long or too tangled.
    """
    if len(text) > MAX_LENGTH:
        raise TooComplex(f"this much shell text ({len(text)} characters) is not checked")
    if text.count("|") > MAX_PIPES or re.search(r"[\0-\x08\x0e-\x1f\x7f]", text):
        raise TooComplex("shell text like this is not checked")
    source = _BACKSLASH_LINE.sub(r"\1\n ", text).encode("utf-8", "replace")
    masked = source.translate(_ASCII)
    deadline = time.thread_time() + MAX_SECONDS
    try:
        tree = Parser(_language()).parse(
            lambda offset, _: masked[offset:],
            progress_callback=lambda _offset, _error: time.thread_time() > deadline,
        )
    except ValueError:
        raise TooComplex("its shell text is too tangled to be checked") from None
    return _Collector(source).collect(tree.root_node)


class _Collector:
    """Walks a parse tree, without recursion since trees may be thousands of levels deep."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.stdin: dict[int, str | None] = {}
        self.redirects: dict[int, list[Node]] = {}
        self.extra: dict[int, list[Node]] = {}
        self.used: set[int] = set()
        self.broken = False

    def collect(self, root: Node) -> Script:
        script = Script([], root.has_error, set())
        stack = [root]
        while stack:
            node = stack.pop()
            script.kinds.add(node.type)
            script.broken = script.broken or self._misread(node)
            if node.type == "pipeline":
                self._pipeline(node)
            elif node.type == "redirected_statement":
                self._redirected(node)
            elif node.type in ("command", "declaration_command", "test_command"):
                script.commands.append(self._command(node))
            elif node.type == "variable_assignment" and node.id not in self.used:
                script.commands.append(Command([], dict([self._assignment(node)])))
            elif node.type == "file_redirect" and node.id not in self.used:
                redirect, words = self._file(node)
                script.commands.append(Command(words, {}, [redirect]))
            stack.extend(reversed(node.children))
        script.broken = script.broken or self.broken
        return script

    def _misread(self, node: Node) -> bool:
        """Whether the grammar cannot have understood this node as Bash does."""
        if node.type == "word":
            return re.search(rb"(?<!\\)(?:\\\\)*\n", self._bytes(node)) is not None
        if node.type == "variable_assignment":
            return re.search(rb"=\s*\\\n\s", self._bytes(node)) is not None
        if node.type == "comment":
            before = self.source[max(0, node.start_byte - 2) : node.start_byte]
            return not _BEFORE_COMMENT.search(before, max(0, len(before) - 1))
        if node.type == "heredoc_start":
            return not self._bytes(node).isascii()
        if node.type == "test_command" and self._bytes(node)[:2] != b"[[":
            return _compares(node)
        return node.type == "command_name" and self._text(node) in _RESERVED

    def _pipeline(self, node: Node) -> None:
        stages = [child for child in node.named_children if child.type != "comment"]
        if node.id in self.stdin and stages:
            self.stdin[stages[0].id] = self.stdin[node.id]
        for before, after in pairwise(stages):
            self.stdin[after.id] = self._output(before)

    def _redirected(self, node: Node) -> None:
        body = node.child_by_field_name("body")
        files = [child for child in node.children if child.type == "file_redirect"]
        text, given = self._given_text(node)
        if body is None:
            return
        if given:
            self.stdin[body.id] = text
        elif node.id in self.stdin:
            self.stdin[body.id] = self.stdin[node.id]
        for here in (child for child in node.children if child.type == "heredoc_redirect"):
            for child in here.named_children:
                if child.type == "file_redirect":
                    files.append(child)
                elif child.type == "pipeline":
                    self.stdin[child.id] = self._output(body)
                elif child.type in ("word", "string", "raw_string", "concatenation", "number"):
                    self.extra.setdefault(body.id, []).append(child)
        self.redirects[body.id] = self.redirects.get(node.id, []) + files

    def _command(self, node: Node) -> Command:
        words: list[Word] = []
        assignments: dict[str, Word] = {}
        redirects: list[Redirect] = []
        if node.type == "declaration_command":
            words.append(Word(self._text(node.children[0])))
        for group in self._groups(node.named_children):
            first = group[0]
            if first.type == "variable_assignment":
                self.used.add(first.id)
                name, value = self._assignment(first)
                assignments[name] = _glue([value, *map(self.word, group[1:])])
            elif first.type == "file_redirect":
                self._add_file(first, words, redirects)
            elif first.type not in _NO_WORDS:
                words.append(_glue([*map(self.word, group)]))
        for file in self.redirects.get(node.id, []):
            self._add_file(file, words, redirects)
        words += [self.word(child) for child in self.extra.get(node.id, [])]
        if node.type == "test_command":
            words = [Word("test"), *words]
        text, given = self._given_text(node)
        if not given:
            text, given = self.stdin.get(node.id), node.id in self.stdin
        return Command(words, assignments, redirects, text, given)

    def _groups(self, nodes: list[Node]) -> list[list[Node]]:
        """Nodes that touch are one word to Bash, though the grammar tells some of them apart."""
        groups: list[list[Node]] = []
        for node in nodes:
            if groups and node.type not in (*_NO_WORDS, "file_redirect", "variable_assignment"):
                gap = self.source[groups[-1][-1].end_byte : node.start_byte]
                if gap.replace(b"\\\n", b"") == b"":
                    groups[-1].append(node)
                    continue
            groups.append([node])
        return groups

    def _add_file(self, node: Node, words: list[Word], redirects: list[Redirect]) -> None:
        redirect, more = self._file(node)
        redirects.append(redirect)
        words.extend(more)

    def _file(self, node: Node) -> tuple[Redirect, list[Word]]:
        """A redirection, and the words after its file, which the grammar takes for files too."""
        self.used.add(node.id)
        operator = next((c.type for c in node.children if not c.is_named), ">")
        targets = [c for c in node.named_children if c.type not in ("file_descriptor", "ERROR")]
        first, *more = [_glue([*map(self.word, group)]) for group in self._groups(targets)] or [
            Word("", literal=False)
        ]
        return Redirect(operator, first), more

    def _given_text(self, node: Node) -> tuple[str | None, bool]:
        """The text of a here-document or here-string on this node, and whether there is one."""
        for child in node.children:
            if child.type == "heredoc_redirect":
                bodies = [c for c in child.children if c.type == "heredoc_body"]
                return "".join(self._text(body) for body in bodies), True
            if child.type == "herestring_redirect":
                word = self.word(child.named_children[0]) if child.named_children else Word("")
                return (word.text if word.literal else None), True
        return None, False

    def _output(self, node: Node) -> str | None:
        """What a command prints, where that is plain to see."""
        body = node
        while body.type == "redirected_statement":
            text, given = self._given_text(body)
            inner = body.child_by_field_name("body")
            if inner is None:
                return None
            if given:
                self.stdin[inner.id] = text
            body = inner
        if body.type != "command":
            return None
        command = self._command(body)
        if not command.words or not all(word.literal and not word.glob for word in command.words):
            return None
        name, *arguments = (word.text for word in command.words)
        if name == "cat" and not arguments:
            return command.stdin
        if name == "echo":
            return " ".join(arguments)
        if name == "printf" and len(arguments) == 1 and not re.search(r"[\\%]", arguments[0]):
            return arguments[0]
        return None

    def _assignment(self, node: Node) -> tuple[str, Word]:
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        return (
            self._text(name) if name else "",
            self.word(value) if value else Word(""),
        )

    def word(self, node: Node) -> Word:
        """What a word node stands for."""
        kind, text = node.type, self._text(node)
        if kind in ("command_name", "concatenation", "string", "translated_string"):
            return self._joined(node)
        if kind in ("simple_expansion", "expansion"):
            name = text.strip("${}").partition(":")[0]
            return Word(_KNOWN_VARIABLES.get(name, text), literal=False)
        if kind in _DYNAMIC or not _plain(kind):
            return Word(text, literal=False)
        if kind == "raw_string":
            return Word(text[1:-1])
        if kind == "ansi_c_string":
            return Word(_ANSI.sub(_ansi, text[2:-1]))
        return Word(re.sub(r"\\(\n|.)", _escaped, text), glob=bool(_GLOB.search(text)))

    def _joined(self, node: Node) -> Word:
        quoted = node.type == "string"
        pieces: list[Word] = []
        position = node.start_byte + quoted
        for child in node.named_children:
            pieces.append(self._between(position, child.start_byte, quoted))
            if child.type == "string_content":
                pieces.append(self._between(child.start_byte, child.end_byte, quoted))
            else:
                pieces.append(self.word(child))
            position = child.end_byte
        pieces.append(self._between(position, node.end_byte - quoted, quoted))
        return _glue(pieces)

    def _between(self, start: int, end: int, quoted: bool) -> Word:
        text = self.source[start:end].decode("utf-8", "replace")
        if quoted:
            return Word(re.sub(r'\\([$`"\\\n])', _escaped, text))
        self.broken = self.broken or text.replace("\\\n", "") not in ("", "$")
        return Word("")

    def _bytes(self, node: Node) -> bytes:
        return self.source[node.start_byte : node.end_byte]

    def _text(self, node: Node) -> str:
        return self._bytes(node).decode("utf-8", "replace")


def _compares(node: Node) -> bool:
    """Whether ``[ … ]`` holds a bare ``>`` or line end, which is none of its own to Bash."""
    stack = list(node.children)
    while stack:
        part = stack.pop()
        if part.type in ("<", ">", "\n", "&&", "||"):
            return True
        if part.type in ("binary_expression", "unary_expression", "parenthesized_expression"):
            stack.extend(part.children)
    return False


def _glue(pieces: list[Word]) -> Word:
    return Word(
        "".join(piece.text for piece in pieces),
        all(piece.literal for piece in pieces),
        any(piece.glob for piece in pieces),
    )


def _plain(kind: str) -> bool:
    return kind in (
        "word",
        "number",
        "raw_string",
        "ansi_c_string",
        "variable_name",
        "test_operator",
        "regex",
        "extglob_pattern",
    )


def _escaped(match: re.Match[str]) -> str:
    return "" if match[1] == "\n" else match[1]


def _ansi(match: re.Match[str]) -> str:
    hexadecimal = match[1] or match[2] or match[3]
    if hexadecimal:
        code = int(hexadecimal, 16)
        return chr(code) if code <= 0x10FFFF else ""
    if match[4]:
        return chr(int(match[4], 8) & 0xFF)
    if match[5]:
        return chr(ord(match[5].upper()) & 0x1F)
    return _ANSI_LETTERS.get(match[6], match[6])
