"""What can be done with a notebook, in whatever way it is reached."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Iterable
from typing import Any, get_args

import msgspec

from ...errors import Conflict, Invalid, OpenHandsError
from ...events import Delivery
from ...events.notebooks import CellType
from ..cells import Cell, source_of, with_newlines
from ..changes import Applied, Change, InsertCell, Mismatch, SetCell, Step
from ..revisions import notebook_rev, outputs_rev
from .lean import lean, lean_metadata


class OutcomeUnknown(OpenHandsError):
    """The change was sent, and nobody knows whether it was made: read the notebook again."""

    status = 504

    def __init__(self, path: str) -> None:
        super().__init__(
            "outcome_unknown",
            f"The browser did not say whether {path} was changed.",
            "Read the notebook again to see whether it was, before anything else is changed.",
        )


class Kernel(msgspec.Struct, frozen=True, kw_only=True):
    """The kernel of a notebook; `state` is as Jupyter has it, such as ``idle`` or ``busy``."""

    id: str
    name: str
    state: str


class Position(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a text; both are counted from 0."""

    line: int
    column: int


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """What is selected in the active cell; `start` is `end` where there is just the cursor."""

    start: Position
    end: Position


class OpenNotebook(msgspec.Struct, frozen=True, kw_only=True):
    """A notebook that somebody has open, without its cells.

    Attributes
    ----------
    path
        As Jupyter's contents API has it.
    dirty
        Whether it has changes that are not saved.
    trusted
        Whether all outputs may run scripts.
    active_cell
        Id of the cell that the person is in.
    visible
        Whether it is on the screen, and not behind another tab.
    awaiting_input
        Whether a cell asks the person for input.
    """

    path: str
    dirty: bool = False
    read_only: bool = False
    trusted: bool = False
    active_cell: str | None = None
    selection: Selection | None = None
    visible: bool = False
    kernel: Kernel | None = None
    awaiting_input: bool = False


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A notebook as it is at one moment.

    Attributes
    ----------
    cells
        Each with an id of its own and its source as one string; without Jupyter's ``trusted`` mark,
        for which there is `trusted`. Those that were not asked for whole are `lean`.
    metadata
        The notebook's own.
    outputs_revs
        Revisions of the outputs of the cells that were asked for by their ids, see `outputs_rev`.
    nb_rev
        Revision of the whole, see `notebook_rev`.
    state
        What else is known of it.
    """

    delivery: Delivery
    cells: list[dict[str, Any]]
    metadata: dict[str, Any]
    nbformat: int
    nbformat_minor: int
    nb_rev: str
    state: OpenNotebook
    outputs_revs: dict[str, str] = {}

    @property
    def path(self) -> str:
        """As Jupyter's contents API has it."""
        return self.state.path


class Document(ABC):
    """A notebook, reached in one way.

    It is made for what is done next, by `Notebooks.open`: a person may close the notebook, rename
    it or open it elsewhere at any time, and then another way leads to it.

    Attributes
    ----------
    path
        As Jupyter's contents API has it, without a slash at its ends.
    delivery
        The way.
    """

    delivery: Delivery

    def __init__(self, path: str) -> None:
        self.path = path

    @abstractmethod
    async def read(self, whole: Collection[str] | None = None) -> Snapshot:
        """The notebook as it is now.

        Parameters
        ----------
        whole
            Ids of the cells that are wanted with all that is in them; all by default. A notebook
            may hold many megabytes of outputs, which a browser would have to send.

        Raises
        ------
        NotFound
            When there is none at this path.
        Invalid
            When what is there is no notebook.
        """

    async def change(self, change: Change) -> Applied | Mismatch:
        """Make a change, whole or not at all; it is one step of the notebook's own undo.

        Returns
        -------
        Applied or Mismatch
            What it is now, or why it was left as it was.

        Raises
        ------
        NotFound
            When there is no notebook at this path any more.
        Invalid
            When the change has a cell that nbformat does not allow.
        Conflict
            When the notebook is read-only, or was closed just now.
        OutcomeUnknown
            When it was sent, and the answer was lost.
        """
        return await self._change(checked(change))

    @abstractmethod
    async def _change(self, change: Change) -> Applied | Mismatch: ...

    @abstractmethod
    async def save(self) -> None:
        """See to it that the file holds what the notebook is now.

        Raises
        ------
        Conflict
            When the notebook is read-only, was closed just now, or its file was changed by
            something else, which is left as it is.
        OpenHandsError
            When it was not saved, or nobody said so in time.
        """


Open = Callable[[str], Awaitable[Document]]
"""Gives the notebook at a path, in the way that leads to it now."""


def checked(change: Change) -> Change:
    """A change whose lines end as JupyterLab's editor ends them.

    Raises
    ------
    Invalid
        When a cell or an output that it brings is not as nbformat has it.
    """
    return msgspec.structs.replace(change, steps=[_checked(step) for step in change.steps])


def _checked(step: Step) -> Step:
    match step:
        case InsertCell(cell=cell):
            kind = cell.get("cell_type")
            if kind not in get_args(CellType):
                raise _invalid(f"there is no type of cell {kind!r}")
            _validate(cell, f"{kind}_cell")
            source = with_newlines(source_of(cell))
            return msgspec.structs.replace(step, cell={**cell, "source": source})
        case SetCell(source=source, outputs=outputs):
            for output in outputs or ():
                _validate(output, "output")
            if source is not None:
                return msgspec.structs.replace(step, source=with_newlines(source))
    return step


def _validate(part: dict[str, Any], kind: str) -> None:
    # Not at the top: it takes longer to load than all of the command line.
    import nbformat

    try:
        nbformat.validate(part, ref=kind, version=4, version_minor=5)
    except nbformat.ValidationError as error:
        raise _invalid(str(error).splitlines()[0]) from error


def _invalid(reason: str) -> Invalid:
    return Invalid("invalid_cell", f"The notebook format does not allow this change: {reason}.")


def read_only(path: str) -> Conflict:
    """The error for a change of a notebook that cannot be written."""
    return Conflict(
        "notebook_read_only",
        f"{path} is read-only.",
        "Copy it to a place that can be written, or change its permissions.",
    )


def not_saved(path: str) -> OpenHandsError:
    """The error for a notebook whose file could not be written."""
    return OpenHandsError(
        "notebook_not_saved", f"{path} was not saved.", "The server's log says why."
    )


def is_trusted(cells: Iterable[Cell]) -> bool:
    """Whether all outputs may run scripts, by Jupyter's mark on each cell."""
    return all(cell["metadata"].get("trusted") for cell in cells if cell["cell_type"] == "code")


def snapshot(
    delivery: Delivery,
    notebook: dict[str, Any],
    cells: list[Cell],
    state: OpenNotebook,
    whole: Collection[str] | None,
) -> Snapshot:
    """A snapshot of a notebook whose cells have ids, see `Document.read`."""
    revs: dict[str, str] = {}
    metadata = notebook["metadata"]
    if whole is not None:
        revs = {cell["id"]: outputs_rev(cell) for cell in cells if cell["id"] in whole}
        cells = [cell if cell["id"] in whole else lean(cell) for cell in cells]
        metadata = lean_metadata(metadata)
    plain = [without_trust(cell) for cell in cells]
    return Snapshot(
        delivery=delivery,
        cells=plain,
        metadata=metadata,
        outputs_revs=revs,
        nbformat=notebook["nbformat"],
        nbformat_minor=notebook["nbformat_minor"],
        nb_rev=notebook_rev(plain),
        state=state,
    )


def without_trust(cell: Cell) -> dict[str, Any]:
    """A cell without Jupyter's mark on it."""
    metadata = {key: value for key, value in cell["metadata"].items() if key != "trusted"}
    return {**cell, "metadata": metadata}
