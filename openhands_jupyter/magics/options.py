"""The options of a cell, and the verbs of a line."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import dataclass
from typing import NoReturn

from ..errors import Invalid

HELP = """\
%%openhands [options]          the lines below are a task for the agent

  --mode ask|agent|auto   ask only reads; agent asks before what is risky; auto asks nothing,
                          and counts for this cell only
  --model NAME            the model, from this cell on
  --new                   begin a new session
  --session ID            go on with this session
  --workspace DIR         folder of a new session, relative to the server's
  --into NAME             also keep the task in a variable; it is in _ anyway
  --direct                go to the server from the kernel, wait, and print each step;
                          always so outside JupyterLab and Notebook, and nothing can be approved

In the text, {expr} becomes its value and @name sends a summary of a variable along.

%openhands status              how the session is
%openhands list                all sessions
%openhands stop                stop the agent
%openhands reset               begin a new session with the next cell
%openhands undo                take back what the last turn did to files and notebooks
%openhands model [NAME]        the models, or another one from now on
%openhands config              the settings in force
%openhands log [N]             the last steps of the session (default 20)
%openhands inject TEXT         say something while the agent works
%openhands help                this text

`task = _`, then `await task` in a later cell, or `task.wait()` in a script; the task has
.state, .answer, .session and .events()."""


@dataclass(frozen=True)
class Options:
    """The first line of a cell."""

    mode: str | None = None
    model: str | None = None
    new: bool = False
    session: str | None = None
    workspace: str | None = None
    into: str | None = None
    direct: bool = False


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Invalid("wrong_options", f"{message[:1].upper()}{message[1:]}.", SEE_HELP)


SEE_HELP = "%openhands help lists what there is."


def parse_options(line: str) -> Options:
    """The options on the first line of a cell.

    Raises
    ------
    Invalid
        When one is wrong.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise Invalid("wrong_options", f"The options cannot be read: {error}.", SEE_HELP) from None
    options = Options(**vars(_parser().parse_args(words)))
    if options.new and options.session:
        raise Invalid("wrong_options", "--new and --session exclude each other.", SEE_HELP)
    if options.into is not None and not options.into.isidentifier():
        raise Invalid("wrong_options", f"{options.into} cannot be the name of a variable.")
    return options


def _parser() -> _Parser:
    parser = _Parser(prog="%%openhands", add_help=False, allow_abbrev=False)
    parser.add_argument("--mode", choices=["ask", "agent", "auto"])
    parser.add_argument("--model")
    parser.add_argument("--new", action="store_true")
    parser.add_argument("--session")
    parser.add_argument("--workspace")
    parser.add_argument("--into")
    parser.add_argument("--direct", action="store_true")
    return parser
