"""The tools of a sandbox: its shell, the file actions, the searches, the web and a helper."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .copies import Copies
from .files import Files
from .helper import Helper
from .search import Search
from .shell import Shell
from .web import Web

if TYPE_CHECKING:
    OnText = Callable[[str], None]


class Tools:
    """One of each.

    Parameters
    ----------
    workspace, environ, scratch
        See `Actions`.

    Attributes
    ----------
    shell
        The shell.
    helper
        The program that stays.
    methods
        What can be asked of all of them, by name.
    """

    def __init__(self, workspace: str, environ: Mapping[str, str], scratch: str) -> None:
        shell = self.shell = Shell(workspace, environ, scratch)
        helper = self.helper = Helper(scratch)
        files = Files(workspace)
        search = Search(workspace)
        copies = Copies(scratch)
        web = Web()
        self.methods: dict[str, Callable[[dict[str, Any], OnText], Any]] = {
            "shell.run": lambda p, on: shell.run(on_text=on, **p),
            "shell.stop": lambda p, on: shell.stop(),
            "file.read": lambda p, on: files.read(**p),
            "file.write": lambda p, on: files.write(**p),
            "file.edit": lambda p, on: files.edit(**p),
            "file.bring": lambda p, on: copies.add(**p),
            "file.glob": lambda p, on: search.glob(**p),
            "file.grep": lambda p, on: search.grep(**p),
            "search.stop": lambda p, on: search.stop(),
            "web.fetch": lambda p, on: web.fetch(**p),
            "web.stop": lambda p, on: web.stop(),
            "helper.ask": lambda p, on: helper.ask(**p),
            "helper.stop": lambda p, on: helper.stop(),
        }
