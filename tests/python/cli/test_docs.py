"""What the pages say to type is understood."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from openhands_jupyter.cli.main import _parser

DOCS = Path(__file__).parents[3] / "docs"
WRITTEN = sorted(
    {
        line
        for page in [*DOCS.glob("*.md"), DOCS.parent / "README.md"]
        for block in re.findall(r"```(?:bash|sh|shell)\n(.*?)```", page.read_text(), re.DOTALL)
        for line in block.splitlines()
        if line.startswith("jupyter openhands ")
    }
)


@pytest.mark.parametrize("line", WRITTEN)
def test_a_command_on_a_page_is_one(line: str) -> None:
    _, _, *arguments = shlex.split(line, comments=True)
    assert _parser().parse_args(arguments).command == arguments[0]
