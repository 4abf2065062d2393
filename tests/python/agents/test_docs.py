"""What docs/notebooks.md says of the agent's tools is said of the tools that there are."""

from __future__ import annotations

import re
from pathlib import Path

from openhands_jupyter.agents import kernel_tools, notebook_tools, run_tools
from openhands_jupyter.llm.tour.failing_cell import find_out
from openhands_jupyter.llm.tour.tasks import task_for
from openhands_jupyter.llm.tour.tidying import tidy_notebook

PAGE = Path(__file__).parents[3] / "docs" / "notebooks.md"
TOOLS = {tool.name for tool in (*notebook_tools.TOOLS, *run_tools.TOOLS, *kernel_tools.TOOLS)}


def test_every_tool_for_notebooks_and_kernels_is_described() -> None:
    page = PAGE.read_text()
    assert [name for name in sorted(TOOLS) if f"`{name}" not in page] == []


def test_the_table_has_no_tool_that_there_is_not() -> None:
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|.*\|.*\|$", PAGE.read_text(), re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"\w+", row)}
    assert len(named) > 8
    assert named <= TOOLS


def test_the_tour_does_what_the_page_begins_with() -> None:
    start = PAGE.read_text().partition("## The agent's tools")[0]
    requests = re.findall(r"\*([A-Z]\w+ [^*]+)\*", start.replace("*Guided tour (no AI)*", ""))
    assert [task_for(request) for request in requests] == [tidy_notebook, find_out]
