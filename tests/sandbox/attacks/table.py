"""Writes what came of the attacks into docs/security.md: ``make security``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from sandbox.attacks.catalogue import ATTACKS, COLUMNS, GROUPS, Attack, Column
from sandbox.attacks.columns import CannotRun, attacker

PAGE = Path(__file__).resolve().parents[3] / "docs" / "security.md"
BEGIN = "<!-- Begin of what 'make security' writes. -->\n"
END = "<!-- End of what 'make security' writes. -->\n"

ISOLATIONS = list(dict.fromkeys(column.isolation for column in COLUMNS))
WHO = {
    "user": "as an ordinary user",
    "owner": "as root, in a user's folder",
    "root": "as root, in root's folder",
}
WORDS = {"stopped": "stopped", "told": "reported", "open": "**open**", "not run": "not run"}

Answers = Mapping[Column, Mapping[str, Any]]


def came_of(answer: Mapping[str, Any], attack: Attack) -> str:
    """``stopped``, ``told`` or ``open``; ``not run`` where it could not be."""
    found = answer["results"].get(attack.name)
    if found is None or found["worked"] is None:
        return "not run"
    return ("told" if found["told"] else "open") if found["worked"] else "stopped"


def render(answers: Answers) -> str:
    """The tables, and what is open and why, from what came of all columns."""
    reasons: dict[str, int] = {}
    lines = []
    for title, attacks in GROUPS.items():
        lines += [f"### {title}", "", f"| The code tries to | {' | '.join(ISOLATIONS)} |"]
        lines.append(f"|{'---|' * (len(ISOLATIONS) + 1)}")
        for attack in attacks:
            cells = [_cell(answers, attack, isolation, reasons) for isolation in ISOLATIONS]
            lines.append(f"| {attack.name} | {' | '.join(cells)} |")
        lines.append("")
    lines += ["### Why", ""]
    lines += [f"{number}. {reason}" for reason, number in reasons.items()]
    return "\n".join([*lines, ""])


def _cell(answers: Answers, attack: Attack, isolation: str, reasons: dict[str, int]) -> str:
    """What came of it in a kind of sandbox; by who Jupyter is run as, where that matters."""
    results: dict[str, list[str]] = {}
    for column in COLUMNS:
        if column.isolation == isolation:
            answer = answers[column]
            result = came_of(answer, attack)
            _, reason = attack.expected(column, answer["groups"])
            number = f" ({reasons.setdefault(reason, len(reasons) + 1)})" if reason else ""
            results.setdefault(f"{WORDS[result]}{number}", []).append(WHO[column.jupyter])
    if len(results) == 1:
        return next(iter(results))
    return "; ".join(f"{result} {_named(who)}" for result, who in results.items())


def _named(who: list[str]) -> str:
    return "as root" if who == [WHO["owner"], WHO["root"]] else " and ".join(who)


def section(page: str) -> str:
    """The part of the page that is written here."""
    return page.partition(BEGIN)[2].partition(END)[0]


def main() -> int:
    """Run all attacks and write the section; 1 if a column cannot be run here."""
    with attacker() as attacking:
        attacking.begin(COLUMNS)
        try:
            answers = {column: attacking.run(column) for column in COLUMNS}
        except CannotRun as reason:
            print(f"The table takes all kinds of sandbox and of user: {reason}.")
            return 1
    page = PAGE.read_text("utf-8")
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{render(answers)}\n{END}{after}", "utf-8")
    for column, answer in answers.items():
        for attack in ATTACKS:
            result, expected = came_of(answer, attack), attack.expected(column, answer["groups"])
            if result not in (expected[0], "not run"):
                print(f"{column}: to {attack.name} is {result}; expected was {expected[0]}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
