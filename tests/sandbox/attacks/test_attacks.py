"""What programs in the sandbox try, and what comes of it, for each kind of sandbox and of user."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from .catalogue import ATTACKS, COLUMNS, Attack, Column
from .columns import Attacker, CannotRun, attacker
from .table import PAGE, render, section

pytestmark = [pytest.mark.sandbox, pytest.mark.slow, pytest.mark.timeout(900)]

NOT_ISOLATED = Column("none", "user")


@pytest.fixture(scope="session")
def running(request: pytest.FixtureRequest) -> Iterator[Attacker]:
    """Runs the columns that tests are about."""
    parameters = [getattr(item, "callspec", None) for item in request.session.items]
    columns = [each.params["column"] for each in parameters if each and "column" in each.params]
    with attacker() as running:
        running.begin(dict.fromkeys(columns))
        yield running


def came_of(running: Attacker, column: Column, attack: Attack) -> tuple[str, str, bool]:
    """The result, its detail, and whether there were control groups."""
    try:
        answer = running.run(column)
    except CannotRun as reason:
        pytest.skip(str(reason))
    if attack.name not in answer["results"]:
        pytest.skip(f"needs {attack.needs.replace('_', ' ')}")
    assert answer["backend"] == column.isolation
    found = answer["results"][attack.name]
    assert found["worked"] is not None, f"the attack itself failed: {found['detail']}"
    result = ("told" if found["told"] else "open") if found["worked"] else "stopped"
    return result, found["detail"], answer["groups"]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
@pytest.mark.parametrize("column", COLUMNS, ids=str)
def test_attack(running, column, attack):
    result, detail, groups = came_of(running, column, attack)
    expected, _ = attack.expected(column, groups)
    assert result == expected, detail


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, for a process namespace of its own")
@pytest.mark.parametrize(
    "attack", [attack for attack in ATTACKS if attack.control], ids=lambda attack: attack.name
)
@pytest.mark.parametrize("column", [NOT_ISOLATED], ids=str)
def test_without_a_sandbox_it_works(running, column, attack):
    """So that the attacks are known to be ones: those that do no harm, as an ordinary user."""
    result, detail, _ = came_of(running, column, attack)
    assert result == "open", detail


def test_the_table_in_the_docs_is_what_came_of_it(running):
    try:
        answers = {column: running.run(column) for column in COLUMNS}
    except CannotRun as reason:
        pytest.skip(str(reason))
    found = section(PAGE.read_text("utf-8")).strip()
    assert found == render(answers).strip(), "write it anew with 'make security'"
