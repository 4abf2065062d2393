"""What the agent does with notebooks, and what comes of it."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import msgspec

from .event import Action, Observation, ShownImage

Delivery = Literal["tab", "room", "disk"]
"""The live model in a browser tab, a document that several people share, the file."""

CellType = Literal["code", "markdown", "raw"]
CellOutcome = Literal["inserted", "changed", "moved", "deleted"]
WhyLeft = Literal["changed", "clash", "gone", "exists", "linked", "not_kept", "not_allowed"]
OutputsShown = Literal["none", "summary", "full"]
SearchedIn = Literal["source", "outputs", "both"]
OutputForm = Literal["text", "table", "image"]


class NewCell(msgspec.Struct, frozen=True, kw_only=True):
    """A cell of a notebook that is to be made."""

    type: CellType
    source: str


class CellEdit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an edit makes of one cell.

    Attributes
    ----------
    id
        Of the cell; one that is inserted gets it.
    what
        What becomes of it.
    cell_type
        Its type afterwards, such as ``code``; of a deleted cell, before.
    before, after
        Its source; None where there is no cell then.
    position
        Its place afterwards, from 0; None where it is deleted.
    notes
        What else changes, as phrases, such as ``outputs cleared``.
    group
        Cells of one group are done together or not at all, such as the parts of a split.
    from_code
        Id of the action whose code, run in the sandbox, it comes from; None for none.
    """

    id: str
    what: CellOutcome
    cell_type: str
    before: str | None = None
    after: str | None = None
    position: int | None = None
    notes: list[str] = []
    group: int = 0
    from_code: int | None = None


class LeftCell(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A cell that an undo leaves as it is.

    Attributes
    ----------
    reason, why
        Why, as a word and as a sentence for the person.
    source
        As it is now; None where there is no such cell.
    both
        What it would be and what it is, so that a person can choose: with marks as Git has them
        where lines clash, else as a diff of what was changed since. Empty where there is nothing
        to choose from.
    """

    id: str
    reason: WhyLeft
    why: str
    source: str | None = None
    both: str = ""


class NotebookRestored(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an undo or a rewind does to the cells of one notebook.

    Attributes
    ----------
    path
        As an agent writes it.
    delivery
        The way in which the notebook is reached; None where it is not.
    cells
        What becomes of each cell: one that comes back is ``inserted``, one that goes again is
        ``deleted``.
    left
        What is left alone, because somebody changed it since.
    problem
        Why nothing is done with the notebook, as a sentence for the person; else empty.
    """

    path: str
    delivery: Delivery | None = None
    cells: list[CellEdit] = []
    left: list[LeftCell] = []
    problem: str = ""


class NotebookListAction(Action, frozen=True, kw_only=True, tag=True):
    """List the notebooks that the person has open, and those of the workspace.

    Attributes
    ----------
    glob
        A pattern that the path must fit, or the name where it has no slash; empty for all.
    open_only
        Whether only those that are open.
    """

    runnable: ClassVar[bool] = True
    changes_files: ClassVar[bool] = False

    glob: str = ""
    open_only: bool = False


class NotebookOutlineAction(Action, frozen=True, kw_only=True, tag=True):
    """Look at a notebook at a glance: a line for each cell, and its headings.

    Attributes
    ----------
    path
        Relative to the workspace, or absolute; so with all actions on notebooks.
    first, limit
        Which cells: after that many, and at most so many.
    query
        Only cells with this text in their source; empty for all.
    """

    runnable: ClassVar[bool] = True
    changes_files: ClassVar[bool] = False

    path: str
    first: int = 0
    limit: int = 200
    query: str = ""


class NotebookReadAction(Action, frozen=True, kw_only=True, tag=True):
    """Read cells of a notebook.

    Attributes
    ----------
    cells
        Their ids, or beginnings of these, or ``@12``; empty for all.
    outputs
        How much of their outputs.
    first_line
        Of each source, where the cells are long.
    """

    runnable: ClassVar[bool] = True
    changes_files: ClassVar[bool] = False

    path: str
    cells: list[str] = []
    outputs: OutputsShown = "summary"
    first_line: int = 1


class NotebookSearchAction(Action, frozen=True, kw_only=True, tag=True):
    """Find lines in the sources or outputs of a notebook.

    Attributes
    ----------
    pattern
        A text, or a regular expression of Python's where `is_regex` says so.
    where
        In what of the cells.
    """

    runnable: ClassVar[bool] = True
    changes_files: ClassVar[bool] = False

    path: str
    pattern: str
    is_regex: bool = False
    where: SearchedIn = "source"


class NotebookOutputAction(Action, frozen=True, kw_only=True, tag=True):
    """Read an output of a cell, page by page.

    Attributes
    ----------
    handle
        Which one, such as ``out:c0ffee11/0``.
    first_line, lines
        Where the page begins, from 1, and how many lines or rows it has; None for all that fit.
    grep
        Only lines with this text; empty for all.
    form
        As what it is shown.
    """

    runnable: ClassVar[bool] = True
    changes_files: ClassVar[bool] = False

    path: str
    handle: str
    first_line: int = 1
    lines: int | None = None
    grep: str = ""
    form: OutputForm = "text"


class NotebookEditAction(Action, frozen=True, kw_only=True, tag=True):
    """Change cells of a notebook, all of them or none; nothing is run.

    Attributes
    ----------
    operations
        What to do, as the model wrote it (`notebooks.editing.operations`).
    why
        The purpose, for the person.
    expect_nb_rev
        The revision that the whole notebook must have; empty where that does not matter.
    cells
        What becomes of each cell, planned before the person is asked.
    delivery
        How the notebook is reached, found out by that too: a person has it open, unless ``disk``.
    is_python
        Whether its code is Python, found out as well.
    """

    runnable: ClassVar[bool] = True

    path: str
    operations: list[dict[str, Any]]
    why: str = ""
    expect_nb_rev: str = ""
    cells: list[CellEdit] = []
    delivery: Delivery | None = None
    is_python: bool = True


class NotebookCreateAction(Action, frozen=True, kw_only=True, tag=True):
    """Make a notebook where there is none.

    Attributes
    ----------
    kernel
        Name of its kernel; empty for the server's usual Python.
    cells
        What it holds.
    open
        Whether it is opened in the person's JupyterLab too, behind what they look at, without a
        kernel: one of theirs would load what an agent has put beside the notebook.
    """

    runnable: ClassVar[bool] = True

    path: str
    kernel: str = ""
    cells: list[NewCell] = []
    open: bool = False


class NotebookSaveAction(Action, frozen=True, kw_only=True, tag=True):
    """Have a notebook saved, with what the person has not saved of it.

    Attributes
    ----------
    delivery
        As with a `NotebookEditAction`.
    """

    runnable: ClassVar[bool] = True

    path: str
    delivery: Delivery | None = None


class NotebookUndoAction(Action, frozen=True, kw_only=True, tag=True):
    """Take back edits that the agent made in a notebook; what somebody wrote since stays.

    Attributes
    ----------
    token
        Id of the action that made the edit; 0 for those of the last turn that edited the notebook.
    why
        The purpose, for the person.
    edits
        Ids of the actions that are meant, found out before the person is asked.
    cells, left
        What becomes of each cell, and what is left alone, planned then too.
    delivery
        As with a `NotebookEditAction`.
    """

    runnable: ClassVar[bool] = True

    path: str
    token: int = 0
    why: str = ""
    edits: list[int] = []
    cells: list[CellEdit] = []
    left: list[LeftCell] = []
    delivery: Delivery | None = None


NotebookRead = (
    NotebookListAction
    | NotebookOutlineAction
    | NotebookReadAction
    | NotebookSearchAction
    | NotebookOutputAction
)
"""What looks at notebooks and changes nothing."""

NotebookWrite = NotebookEditAction | NotebookCreateAction | NotebookSaveAction | NotebookUndoAction


class ReadCell(msgspec.Struct, frozen=True, kw_only=True):
    """A cell that the model has read whole, and the revision that it saw."""

    id: str
    rev: str


class NotebookObservation(Observation, frozen=True, kw_only=True, tag=True):
    """What was found in a notebook, or which ones there are.

    Attributes
    ----------
    path
        As the action has it; empty for a list.
    content
        As the model is shown it: what is from the notebook stands there as data.
    read
        The cells that it has read whole with this.
    images
        The first of the images that the content tells of.
    """

    path: str
    content: str
    read: list[ReadCell] = []
    images: list[ShownImage] = []


class NotebookEditObservation(Observation, frozen=True, kw_only=True, tag=True):
    """A notebook was changed, made or saved.

    Attributes
    ----------
    delivery
        The way in which that was done.
    nb_rev
        Revision of the notebook afterwards.
    cells
        What was done.
    rejected
        Ids of the cells whose part of the edit the person rejected.
    left
        What was left alone where edits were taken back.
    content
        What the model is told.
    """

    path: str
    delivery: Delivery
    nb_rev: str
    cells: list[CellEdit] = []
    rejected: list[str] = []
    left: list[LeftCell] = []
    content: str = ""
