"""`%openhands` and `%%openhands`: the agent from a cell, a script or a plain IPython."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def load(shell: InteractiveShell) -> None:
    """Add the magics to a shell."""
    from .extension import OpenHandsMagics

    shell.register_magics(OpenHandsMagics)
