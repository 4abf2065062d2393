"""MCP servers for tests: good ones written with the SDK, and bad ones by hand."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def good_server(*args: str) -> dict[str, Any]:
    """The server written with the SDK, over stdio."""
    return {"command": sys.executable, "args": [str(FOLDER / "good.py"), *args]}


def bad_server(how: str, *args: str) -> dict[str, Any]:
    """A server that behaves badly in one way; see `bad.py`."""
    return {"command": sys.executable, "args": ["-S", str(FOLDER / "bad.py"), how, *args]}
