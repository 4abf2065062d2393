"""What the docs say of settings is said of the settings that there are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from configuring import Make, write

from openhands_jupyter.config.keys import FILE_KEYS, OPTIONS, WORKSPACE_SETTINGS
from openhands_jupyter.config.settings import NAMES, Settings, choices
from openhands_jupyter.config.traits import DESCRIPTIONS

DOCS = Path(__file__).parents[3] / "docs"
MODELS_PAGE = (DOCS / "models.md").read_text()
PAGE = (DOCS / "configuration.md").read_text()


def examples(page: str) -> list[str]:
    return re.findall(r"```toml\n(.*?)```", page, re.DOTALL)


def test_the_page_on_models_can_be_copied(make: Make, home: Path) -> None:
    assert len(examples(MODELS_PAGE)) == 3
    for example in examples(MODELS_PAGE):
        write(home / "config.toml", example)
        config = make()
        assert config.problems == []
    reach = config.model_config(config.settings.model)
    assert (reach.vision, reach.tool_calls, reach.context_window) == ("on", "on", 200_000)


def test_the_page_on_models_names_each_setting_by_its_three_names() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| `(\w+)` \|$", MODELS_PAGE, re.MULTILINE)
    keys = {key: name for key, name in FILE_KEYS.items() if key.section == "llm"}
    assert {(key.key, name, key.variable) for key, name in keys.items()} == set(rows)


@pytest.mark.parametrize("example", examples(PAGE))
def test_the_page_on_configuration_can_be_copied(
    make: Make, home: Path, root: Path, example: str
) -> None:
    write(home / "config.toml", example)
    config = make()
    assert [problem for problem in config.problems if problem.severity == "error"] == []
    assert config.mcp(root).warnings == []


def default(name: str) -> str:
    value: Any = getattr(Settings(), name)
    return " " if value is None else f" `{msgspec.json.encode(value).decode()}` "


def rows(section: str) -> list[str]:
    """The table of a section, as it has to be on the page."""
    found = []
    for key, name in FILE_KEYS.items():
        if key.section == section:
            description = DESCRIPTIONS[name].replace("``", "`").replace("|", "\\|")
            if words := [word for word in choices(name) if f"`{word}`" not in description]:
                description += f" (One of {', '.join(f'`{word}`' for word in words)}.)"
            may = {"choose": " yes ", "lower": " lower "}.get(WORKSPACE_SETTINGS.get(name, ""), " ")
            found.append(
                f"| `{key.key}` | `{name}` | `{key.variable}` |{default(name)}|{may}"
                f"| {description} |"
            )
    return found


@pytest.mark.parametrize("section", dict.fromkeys(key.section for key in FILE_KEYS))
def test_the_page_has_every_key_of_a_section(section: str) -> None:
    [table] = re.findall(rf"### `\[{section}\]`\n(?:(?!\|).*\n)+((?:\|.*\n)+)", PAGE)
    wanted = rows(section)
    assert table.splitlines()[2:] == wanted, "\n".join(wanted)


def test_the_page_has_the_rest() -> None:
    named = {name for key, name in FILE_KEYS.items()}
    for name in set(NAMES) - named:
        assert f"| `{name}` | {DESCRIPTIONS[name].replace('``', '`')} |" in PAGE
    for option in OPTIONS.values():
        assert f"`{option}`" in PAGE
