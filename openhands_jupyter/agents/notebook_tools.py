"""The tools for notebooks: by cell and revision, in the notebook as the person has it open."""

from __future__ import annotations

from typing import Annotated, Any, Self

import msgspec
from msgspec import Meta

from ..events import (
    Action,
    NewCell,
    NotebookCreateAction,
    NotebookEditAction,
    NotebookListAction,
    NotebookOutlineAction,
    NotebookOutputAction,
    NotebookReadAction,
    NotebookSaveAction,
    NotebookSearchAction,
    NotebookUndoAction,
)
from ..events.notebooks import OutputForm, OutputsShown, SearchedIn
from ..notebooks.editing.operations import Operation
from .tool_arguments import Gated, ToolArguments

Notebook = Annotated[
    str, Meta(description="Path of the notebook, relative to the workspace, ending in .ipynb.")
]
Count = Annotated[int, Meta(ge=0)]
Line = Annotated[int, Meta(ge=1, description="Line to begin with, from 1.")]


class NbList(Gated, kw_only=True):
    name = "nb_list"
    description = (
        "List the notebooks: those that the user has open, with what is known of them (unsaved "
        "changes, kernel, the cell that the user is in), then those of the workspace."
    )
    action_type = NotebookListAction

    glob: Annotated[
        str, Meta(description="Only names, or paths if it has a slash, that fit this pattern.")
    ] = ""
    open_only: bool = False


class NbOutline(Gated, kw_only=True, rename={"first": "from"}):
    name = "nb_outline"
    description = (
        "Look at a notebook first: a line for each cell (position, id, type, revision, first line, "
        "names that it gives and takes, kinds of outputs), nb_rev and the headings."
    )
    action_type = NotebookOutlineAction

    path: Notebook
    first: Annotated[Count, Meta(description="Leave out that many cells.")] = 0
    limit: Annotated[Count, Meta(description="Cells at most.")] = 200
    query: Annotated[str, Meta(description="Only cells with this text in their source.")] = ""


class NbRead(Gated, kw_only=True):
    name = "nb_read"
    description = (
        "Read cells of a notebook: source with line numbers, revision, outputs. Only a cell that "
        "you have read can be overwritten. The line numbers are not part of the source."
    )
    action_type = NotebookReadAction

    path: Notebook
    cells: Annotated[
        list[str],
        Meta(description="Ids, unique beginnings of ids (4+ characters), or '@12'; empty for all."),
    ] = []
    outputs: Annotated[
        OutputsShown, Meta(description="In full, the first images are there to be seen.")
    ] = "summary"
    first_line: Line = 1


class NbSearch(Gated, kw_only=True, rename={"is_regex": "regex", "where": "in"}):
    name = "nb_search"
    description = "Find the lines of a notebook's sources or outputs that hold a text."
    action_type = NotebookSearchAction

    path: Notebook
    pattern: str
    is_regex: Annotated[
        bool, Meta(description="Whether the pattern is a regular expression (Python's).")
    ] = False
    where: SearchedIn = "source"


class ReadOutput(Gated, kw_only=True, rename={"form": "as"}):
    name = "read_output"
    description = (
        "Read on in an output of a cell, by the handle that stands where something was left out."
    )
    action_type = NotebookOutputAction

    path: Notebook
    handle: Annotated[str, Meta(description="Such as out:c0ffee11/0.")]
    first_line: Annotated[Line, Meta(description="Line, or row of a table, to begin with.")] = 1
    lines: Annotated[Count, Meta(description="Lines or rows; 0 for all that fit.")] = 0
    grep: Annotated[str, Meta(description="Only lines with this text.")] = ""
    form: Annotated[
        OutputForm, Meta(description="As an image it is there to be seen, if you see images.")
    ] = "text"

    def to_action(self) -> Action:
        return self.rate(
            NotebookOutputAction(
                path=self.path,
                handle=self.handle,
                first_line=self.first_line,
                lines=self.lines or None,
                grep=self.grep,
                form=self.form,
            )
        )

    @classmethod
    def of(cls, action: NotebookOutputAction) -> Self:
        return cls(
            path=action.path,
            handle=action.handle,
            first_line=action.first_line,
            lines=action.lines or 0,
            grep=action.grep,
            form=action.form,
        )


class NbEdit(Gated, kw_only=True):
    name = "nb_edit"
    description = (
        "Change cells of a notebook; nothing is run. All ops are done together, or none: as one "
        "step that the user can undo. Every id, after, before and expect_rev is of the notebook "
        "as it is before the list; a cell that an op inserts gets its id in the result. "
        "expect_rev is the revision of the cell that you have read. 'patch' puts new in place of "
        "old, which has to occur exactly once unless all is true. To insert code that you ran in "
        "the sandbox, give from_code, the number in the result of that run_code, in place of the "
        "source, or beside it if the source is another one. Where the user was faster, "
        "nothing is changed and you are told what is there now. The user may be asked first, and "
        "may accept some cells, reject others and change your text."
    )
    action_type = NotebookEditAction

    path: Notebook
    ops: list[Operation]
    why: Annotated[str, Meta(description="The purpose, in a sentence for the user.")] = ""
    expect_nb_rev: Annotated[
        str, Meta(description="Revision of the whole notebook, where its order matters.")
    ] = ""

    def to_action(self) -> Action:
        return self.rate(
            NotebookEditAction(
                path=self.path,
                operations=msgspec.to_builtins(self.ops),
                why=self.why,
                expect_nb_rev=self.expect_nb_rev,
            )
        )

    @classmethod
    def of(cls, action: NotebookEditAction) -> Self:
        # As they stand on the log, whatever a later version makes of them.
        operations: Any = action.operations
        return cls(
            path=action.path,
            ops=operations,
            why=action.why,
            expect_nb_rev=action.expect_nb_rev,
        )


class NbCreate(Gated, kw_only=True):
    name = "nb_create"
    description = "Make a notebook where there is none, in a folder of the workspace."
    action_type = NotebookCreateAction

    path: Notebook
    kernel: Annotated[
        str, Meta(description="Name of the kernel; empty for the server's Python.")
    ] = ""
    cells: list[NewCell] = []
    open: Annotated[
        bool,
        Meta(
            description="Whether to open it in the user's JupyterLab as well, behind what they "
            "look at."
        ),
    ] = False


class NbSave(Gated, kw_only=True):
    name = "nb_save"
    description = (
        "Save a notebook that the user has open, with all that they have not saved. Only when the "
        "file is needed, as by code that reads it: the user saves by themselves."
    )
    action_type = NotebookSaveAction

    path: Notebook


class NbUndo(Gated, kw_only=True):
    name = "nb_undo"
    description = (
        "Take back edits of your own in a notebook: the one whose undo token you name, else all of "
        "your last turn that edited it. It is done on the notebook as it is now, and what the user "
        "wrote since stays: a cell in which both changed the same lines is left alone, and told. "
        "Outputs that an edit cleared come back; what code did when it ran is not undone."
    )
    action_type = NotebookUndoAction

    path: Notebook
    token: Annotated[Count, Meta(description="Undo token from the result of an edit.")] = 0
    why: Annotated[str, Meta(description="The purpose, in a sentence for the user.")] = ""


READING: tuple[type[ToolArguments], ...] = (NbList, NbOutline, NbRead, NbSearch, ReadOutput)
TOOLS: tuple[type[ToolArguments], ...] = (
    *READING,
    NbEdit,
    NbCreate,
    NbSave,
    NbUndo,
)
