"""What docs/magics.md shows works as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from magic_kernel import Kernel

PAGE = Path(__file__).parents[3] / "docs" / "magics.md"


@pytest.mark.sandbox
def test_the_examples_run_in_their_order(at_server: Kernel) -> None:
    examples = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(examples) >= 6
    at_server.run("%openhands model tour")
    for example in examples:
        ran = at_server.run(example)
        assert ran.status == "ok", f"{example}\n{ran.text}"
    assert "finished" in ran.text
