"""What the tour reads of notebooks: the answers of the tools, as any model gets them."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

from ...events.masking import MASK
from .conversation import Result
from .script import Call, Reply, call, finish, reply, setback

LONGEST_LINE = 2_000
"""Characters of a line that are shown; what comes after them is counted only."""

SAMPLE_NOTEBOOK = "temperatures.ipynb"
SAMPLE_CELLS = (
    "temperatures = [1.2, 2.1, 5.6, 9.8, 14.3, 17.6, 19.5, 19.1, 15.0, 10.4, 5.3, 2.2]",
    "",
    "import statistics\n\naverage = statistics.mean(temperatures)   \n\n\n",
    'import math\n\nprint(f"About {math.floor(averge)} degrees on average.")',
)
"""Code with an empty cell, scattered imports and a name that is misspelt."""

_NAMED = re.compile(r"(?<![\w./-])[\w./-]+\.ipynb\b", re.IGNORECASE)
_OPEN = re.compile(r"^(?P<path>.+\.ipynb): open\b", re.MULTILINE)
_IN_FRONT = re.compile(r"^(?P<path>.+\.ipynb): open in front of the person", re.MULTILINE)
_CELL = re.compile(
    r"Cell (?P<id>\S+) @\d+ (?P<kind>\w+), rev (?P<rev>\w+), "
    r"(?:empty|(?P<whole>\d+ lines)|lines .*)(?: \(data, not instructions\):)?"
)
_LINE = re.compile(r" {0,5}\d+\t(?P<text>.*)")
_OUTPUTS = re.compile(r"Outputs of cell (?P<id>\S+) \(data, not instructions\):")
_ERROR = re.compile(r"(?P<name>[A-Z]\w*(?:Error|Exception|Interrupt|Warning)): (?P<text>.*)")


@dataclass
class SeenCell:
    """A cell as ``nb_read`` shows it.

    Attributes
    ----------
    known
        Whether its source was shown as it is: whole, and with nothing masked.
    error
        The last line of an error among its outputs; empty if there is none.
    """

    id: str
    kind: str
    rev: str
    known: bool
    lines: list[str] = field(default_factory=list)
    error: str = ""

    @property
    def source(self) -> str:
        return "\n".join(self.lines)


@dataclass(frozen=True)
class Seen:
    """A notebook that was read."""

    path: str
    cells: Sequence[SeenCell]


def read_notebook(request: str) -> Generator[Reply, tuple[Result, ...], Seen | Reply]:
    """Find the notebook that is meant, or make a sample, and read it.

    Returns
    -------
    Seen or Reply
        The notebook, or what ends the task.
    """
    (listing,) = yield reply("I look which notebooks there are.", call("nb_list"))
    if problem := setback(listing, "the search for notebooks"):
        return finish(problem)
    path = _choose(listing, request)
    if not path:
        path = SAMPLE_NOTEBOOK
        (made,) = yield reply(
            f"You have no notebook in front of you, so I make a sample, `{path}`.", _make_sample()
        )
        if problem := setback(made, f"making `{path}`"):
            return finish(problem)
    (shown,) = yield reply("I read its cells.", call("nb_read", path=path, outputs="full"))
    if problem := setback(shown, "reading the notebook"):
        return finish(problem)
    return Seen(path, cells_of(shown))


def cells_of(shown: Result) -> list[SeenCell]:
    """The cells that ``nb_read`` has shown, with the errors among their outputs."""
    cells: dict[str, SeenCell] = {}
    reading: SeenCell | None = None
    printed: SeenCell | None = None
    for line in shown.text.split("\n"):
        if head := _CELL.fullmatch(line):
            whole = bool(head["whole"]) or line.endswith("empty")
            reading = SeenCell(head["id"], head["kind"], head["rev"], whole)
            cells[reading.id] = reading
        elif outputs := _OUTPUTS.fullmatch(line):
            reading, printed = None, cells.get(outputs["id"])
        elif reading and (text := _LINE.fullmatch(line)):
            reading.lines.append(text["text"])
            reading.known &= MASK not in text["text"] and len(text["text"]) <= LONGEST_LINE
        elif printed and _ERROR.fullmatch(line):
            printed.error = line
    return list(cells.values())


def error_in(text: str) -> str:
    """The last line in a text that tells of an error; empty if none does."""
    found = [line for line in text.split("\n") if _ERROR.fullmatch(line.strip())]
    return found[-1].strip() if found else ""


def _choose(listing: Result, request: str) -> str:
    """The notebook that is named, else the one in front, else the only open one."""
    paths = re.findall(r"^.+?\.ipynb", listing.text, re.MULTILINE)
    if named := _NAMED.search(request):
        wanted = named[0].removeprefix("./")
        for path in paths:
            if path == wanted or path.endswith("/" + wanted):
                return str(path)
    if in_front := _IN_FRONT.search(listing.text):
        return in_front["path"]
    opened = _OPEN.findall(listing.text)
    if len(opened) == 1:
        return str(opened[0])
    return SAMPLE_NOTEBOOK if SAMPLE_NOTEBOOK in paths else ""


def _make_sample() -> Call:
    cells = [{"type": "code", "source": source} for source in SAMPLE_CELLS]
    return call("nb_create", path=SAMPLE_NOTEBOOK, cells=cells, security_risk="low")
