"""Which agents there are, and why one cannot be had."""

from __future__ import annotations

import pytest

from openhands_jupyter.agents import Agent, CodeActAgent, registry
from openhands_jupyter.errors import Invalid

GOOD = """
from openhands_jupyter.agents import Agent

class Good(Agent):
    name = "good"
    title = "A good one"
    description = "Does good."
    async def step(self, state): ...

class Unfinished(Agent):
    name = "unfinished"

nothing = 1
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package with entry points, as an installer leaves it."""
    (tmp_path / "agents_of_others.py").write_text(GOOD)
    (tmp_path / "broken_agent.py").write_text("import no_such_module_anywhere")
    (tmp_path / "a_script.py").write_text("import sys\nsys.exit('Usage: a_script FILE')")
    info = tmp_path / "agents_of_others-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: agents-of-others\nVersion: 1.0\n")
    points = {
        "good": "agents_of_others:Good",
        "broken": "broken_agent:Agent",
        "codeact": "broken_agent:Agent",
    }
    lines = [f"{name} = {value}" for name, value in points.items()]
    (info / "entry_points.txt").write_text(f"[{registry.GROUP}]\n" + "\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    registry._installed.cache_clear()
    yield
    registry._installed.cache_clear()


@pytest.mark.usefixtures("installed")
def test_all_are_listed_the_broken_one_with_the_reason():
    listed = registry.catalogue("agents_of_others:Good", "codeact")
    found = {info.name: info for info in listed}
    assert len(found) == len(listed)
    assert listed[0].name == "codeact"
    assert (found["good"].title, found["good"].origin) == ("A good one", "installed")
    assert "no_such_module_anywhere" in found["broken"].problem
    assert found["agents_of_others:Good"].origin == "import path"
    assert {info.origin for info in listed[:2]} == {"built in"}


@pytest.mark.usefixtures("installed")
def test_found_by_name_by_class_and_by_import_path():
    assert registry.find("codeact") is registry.find("CodeActAgent") is CodeActAgent
    assert registry.find("good") is registry.find("agents_of_others:Good")
    assert issubclass(registry.find("good"), Agent)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "code", "told"),
    [
        ("nobody", "unknown_agent", "no agent “nobody”"),
        ("agents_of_others:Bad", "agent_not_loaded", "no attribute 'Bad'"),
        ("agents_of_others:nothing", "no_agent", "must be a subclass"),
        ("agents_of_others:Unfinished", "no_agent", "with a step method"),
        ("no_such_module_anywhere:X", "agent_not_loaded", "No module named"),
        ("broken", "agent_not_loaded", "no_such_module_anywhere"),
        ("a_script:Agent", "agent_not_loaded", "SystemExit: Usage: a_script FILE"),
    ],
)
def test_one_that_cannot_be_had_says_why(name, code, told):
    with pytest.raises(Invalid) as raised:
        registry.find(name)
    assert raised.value.code == code
    assert told in raised.value.message
