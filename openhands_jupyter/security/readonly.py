"""Which shell commands provably only read: the ones that Ask mode runs."""

from __future__ import annotations

import re

from .bash_tree import parse
from .bash_words import Command
from .git_rules import split_git
from .scene import TooComplex
from .wordlist import name_set

_KINDS = name_set(
    "program list pipeline command command_name word number string string_content raw_string "
    "ansi_c_string concatenation redirected_statement file_redirect file_descriptor "
    "simple_expansion variable_name special_variable_name command_substitution negated_command "
    "comment && || | ; ! > >& &> < ) $( $ ` \" ' |& &>> >>"
) | {"\n", ""}

# Commands that cannot write whatever their arguments are.
_FREE = name_set(
    "pwd ls cat head tail wc grep egrep fgrep echo printf true false test cut tr nl tac rev fold "
    "paste comm cmp diff column stat du df basename dirname realpath readlink which whereis "
    "whoami id groups uname uptime free nproc arch locale md5sum sha1sum sha256sum sha512sum cksum "
    "sum b2sum od hexdump strings seq expr join expand unexpand zcat zgrep nm size cal"
)
# Commands that can, and what must not begin any of their arguments.
_CHECKED: dict[str, str] = {
    "rg": r"--pre|--hostname-bin|--search-zip|-z",
    "find": r"-(exec|ok|delete|fprint|fls|fprintf)",
    "fd": r"-[xX]|--exec|--exec-batch",
    "tree": r"-o|--output|-R",
    "file": r"-C|--compile|-m|--magic-file",
    "sort": r"-\w*o|--output|--compress|-T|--temp|-S",
    "date": r"-s|--set|[0-9]",
    "ps": r"$^",
    "hostname": r"[^-]|-F|-b",
    "jq": r"--in-place|-f|--from-file|-L",
    "xxd": r"-r|--revert",
    "env": r".",
    "type": r"$^",
    "command": r"(?!-v$|-V$)-|(?!)",
}
_VERSION = name_set(
    "python python3 pip pip3 conda mamba node npm git gcc g++ make java go rustc cargo ruby perl R "
    "julia jupyter uv docker"
)
_VERSION_FLAGS = frozenset({"--version", "-V", "-v", "version"})

_GIT = name_set(
    "status log diff show blame ls-files ls-tree rev-parse describe shortlog grep cat-file "
    "rev-list merge-base name-rev count-objects check-ignore show-ref for-each-ref whatchanged "
    "diff-tree diff-index diff-files version var"
)
_GIT_LISTS: dict[str, str] = {
    "branch": r"-a|-r|-v|-vv|--list|--show-current|--all|--merged|--no-merged|--contains",
    "tag": r"-l|--list|-n\d*",
    "remote": r"-v|--verbose|show|get-url",
    "stash": r"list|show",
    "config": r"--get|--get-all|--get-regexp|--list|-l",
    "reflog": r"show|-n|-\d+",
    "worktree": r"list",
    "submodule": r"status",
    "notes": r"list|show",
}
_GIT_UNSAFE = re.compile(r"--output|--ext-diff|--textconv|-O|--open-files|--exec|--upload|-p$")


def is_read_only(text: str) -> bool:
    """Whether shell text is proven to change nothing; doubt counts as no."""
    if "\\\n" in text:
        return False
    try:
        script = parse(text)
    except TooComplex:
        return False
    if script.broken or not script.kinds <= _KINDS or not script.commands:
        return False
    return all(_reads(command) for command in script.commands)


def _reads(command: Command) -> bool:
    if command.assignments:
        return False
    for redirect in command.redirects:
        if redirect.writes and redirect.target.text != "/dev/null":
            return False
        if not redirect.target.literal or redirect.target.glob:
            return False
        if redirect.target.text.startswith(("/dev/tcp", "/dev/udp")):
            return False
    if not command.words:
        return bool(command.redirects)
    name, arguments = command.words[0], [word.text for word in command.words[1:]]
    if not name.literal or name.glob or "/" in name.text:
        return False
    if name.text in _FREE:
        return name.text not in ("printf", "test") or "-v" not in arguments
    if any(not word.literal for word in command.words):
        return False
    if name.text == "git":
        return _git_reads(command)
    if name.text in _VERSION and len(arguments) == 1 and arguments[0] in _VERSION_FLAGS:
        return True
    if name.text in ("pip", "pip3") and arguments[:1] in (["list"], ["show"], ["freeze"]):
        return not any("index" in a or a in ("-o", "--outdated", "--log") for a in arguments)
    if name.text in ("uniq", "command", "cd"):
        return _special(name.text, arguments)
    unsafe = _CHECKED.get(name.text)
    return unsafe is not None and not any(re.match(unsafe, argument) for argument in arguments)


def _special(name: str, arguments: list[str]) -> bool:
    if name == "command":
        return arguments[:1] in (["-v"], ["-V"])
    operands = [argument for argument in arguments if not argument.startswith(("-", "+"))]
    return (
        name == "uniq"
        and len(operands) <= 1
        and not any(re.match(r"-\w*[fsw]$", a) for a in arguments)
    )


def _git_reads(command: Command) -> bool:
    before, action, rest = split_git(command.words)
    if any(word.text not in ("--no-pager", "-P", "--version") for word in before):
        return False
    if any(_GIT_UNSAFE.match(argument) for argument in rest):
        return False
    if action in _GIT:
        return True
    listed = _GIT_LISTS.get(action)
    if listed is None:
        return not action and bool(before)
    if not rest:
        return action in ("branch", "tag", "remote", "reflog", "submodule")
    return bool(re.fullmatch(listed, rest[0])) and (
        action not in ("branch", "tag")
        or all(argument.startswith("-") for argument in rest[1:])
        or rest[0] in ("-l", "--list", "--merged", "--no-merged", "--contains")
    )
