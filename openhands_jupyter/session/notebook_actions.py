"""What the agent does with notebooks: executed by the server, not in the sandbox."""

from __future__ import annotations

import asyncio
import fnmatch
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from uuid import uuid4

import msgspec

from ..controller.log import error_observation
from ..errors import Conflict, OpenHandsError
from ..events import (
    Action,
    CellEdit,
    ErrorObservation,
    Event,
    Masker,
    NotebookCreateAction,
    NotebookEditAction,
    NotebookEditObservation,
    NotebookListAction,
    NotebookObservation,
    NotebookOutlineAction,
    NotebookOutputAction,
    NotebookReadAction,
    NotebookSaveAction,
    NotebookSearchAction,
    NotebookUndoAction,
    Observation,
    ReadCell,
    State,
)
from ..events.blobs import BlobStore
from ..events.notebooks import NotebookRead, NotebookWrite
from ..notebooks.cells import Cell, new_cell, with_newlines
from ..notebooks.changes import Change, InsertCell
from ..notebooks.delivery.document import Document, OutcomeUnknown, Snapshot
from ..notebooks.delivery.notebooks import Notebooks
from ..notebooks.editing.readings import Readings
from ..notebooks.provenance import KEY, Provenance
from ..notebooks.revisions import cell_rev, notebook_rev, rev_of
from ..notebooks.showing.looking import look
from ..notebooks.showing.pictures import Picture, keep_pictures
from ..notebooks.showing.texts import (
    cells_text,
    list_text,
    outline_text,
    output_shown,
    search_text,
)
from ..notebooks.undo.kept import KeptEdit, KeptEdits
from ..notebooks.undo.records import records
from ..runtime.base import OutputCallback
from .notebook_edits import NotebookEdits
from .notebook_places import NotebookPlaces, out_of_workspace
from .notebook_undos import NotebookUndos

_SHOWS_CELLS = NotebookOutlineAction | NotebookReadAction
_OUTCOME_UNKNOWN = frozenset({"outcome_unknown", "stopped", "interrupted"})
"""Errors after which nobody knows whether a notebook was changed."""


class NotebookActions:
    """Executes the actions of one session on notebooks, and holds what it has read of them.

    Parameters
    ----------
    notebooks
        Gives the way to each notebook.
    places
        Maps the agent's paths.
    state
        The session; what the person decides is there, and what was read before a restart.
    session
        Its id.
    masker
        Knows the secrets.
    kept
        Where what edits did is kept, so that it can be taken back.
    blobs
        Keeps the pictures that a model is shown.
    """

    def __init__(
        self,
        notebooks: Callable[[], Notebooks],
        places: NotebookPlaces,
        state: State,
        session: str,
        masker: Masker,
        kept: KeptEdits,
        blobs: BlobStore,
    ) -> None:
        self._notebooks = notebooks
        self._places = places
        self._state = state
        self._session = session
        self._masker = masker
        self._kept = kept
        self._blobs = blobs
        self._readings = Readings()
        self._edits = NotebookEdits(self._readings, state, masker, kept)
        self._undos = NotebookUndos(self._readings, state, masker, kept)
        self._remember()

    def _remember(self) -> None:
        """Know again what was read before a restart; sources are not needed for that."""
        actions: dict[int | None, NotebookRead | NotebookWrite] = {}
        for event in self._state.history:
            if isinstance(event, NotebookRead | NotebookWrite):
                actions[event.id] = event
            elif action := actions.pop(event.cause, None):
                self._remember_answer(action, event)

    def _remember_answer(self, action: NotebookRead | NotebookWrite, answer: Event) -> None:
        path = self._places.contents_path(getattr(action, "path", "")) or ""
        match answer:
            case NotebookObservation(read=read):
                if isinstance(action, _SHOWS_CELLS):
                    self._readings.note_look(path)
                for cell in read:
                    self._readings.note(path, cell.id, cell.rev)
            case NotebookEditObservation(cells=cells) if not isinstance(action, NotebookUndoAction):
                for edit in cells:
                    rev = rev_of(edit.cell_type, edit.after or "")
                    self._readings.note_edit(path, edit, rev)
            case ErrorObservation(code=code) if code in _OUTCOME_UNKNOWN:
                if isinstance(action, NotebookWrite):
                    self._readings.forget(path)

    def takes(self, action: Action) -> bool:
        """Whether an action is on notebooks."""
        return isinstance(action, NotebookRead | NotebookWrite)

    async def prepare(self, action: Action) -> Action | Observation:
        """Plan an action before the gate sees it; see `Runtime.prepare`."""
        try:
            match action:
                case NotebookEditAction():
                    document = await self.open(action.path)
                    place = await asyncio.to_thread(self._places.find, action.path)
                    return await self._edits.prepare(action, document, place.in_workspace)
                case NotebookUndoAction():
                    document = await self.open(action.path)
                    path = self._places.absolute(action.path)
                    return await self._undos.prepare(action, path, document)
                case NotebookSaveAction():
                    document = await self.open(action.path)
                    return msgspec.structs.replace(action, delivery=document.delivery)
                case NotebookCreateAction():
                    await self.require_in_workspace(action.path)
                case NotebookListAction():
                    pass
                case _:
                    await self.open(_path_of(action))
        except OpenHandsError as error:
            return error_observation(error)
        return action

    async def run(self, action: Action, on_output: OutputCallback) -> Observation:
        """Execute an action that was prepared; see `Runtime.run_action`."""
        try:
            match action:
                case NotebookEditAction():
                    document = await self._open_as_judged(action)
                    path, provenance = self._places.absolute(action.path), self._provenance(action)
                    return await self._edits.make(action, path, document, provenance)
                case NotebookUndoAction():
                    document = await self._open_as_judged(action)
                    path = self._places.absolute(action.path)
                    return await self._undos.make(action, path, document)
                case NotebookCreateAction():
                    return await self._create(action)
                case NotebookSaveAction():
                    document = await self._open_as_judged(action)
                    await document.save()
                    return await self._saved(action, document)
                case NotebookListAction():
                    return NotebookObservation(path="", content=await self._list(action))
                case _:
                    return await self._look(action)
        except OpenHandsError as error:
            return error_observation(error)

    # Reading

    async def open(self, path: str) -> Document:
        """The notebook; one outside the workspace only where a person has it open.

        Raises
        ------
        NotFound, Invalid
            When there is none that may be reached.
        """
        place = await asyncio.to_thread(self._places.find, path)
        document = await self._notebooks().open(place.path)
        if document.delivery == "disk" and not place.in_workspace:
            raise out_of_workspace(path)
        return document

    def opened(self) -> list[str]:
        """The absolute paths of the notebooks that somebody has open."""
        places = self._places
        opened = self._notebooks().open_in_browser()
        return [places.absolute(places.shown(notebook.path)) for notebook in opened]

    @property
    def readings(self) -> Readings:
        """What the session has read."""
        return self._readings

    def contents_path(self, path: str) -> str | None:
        """A path of the agent's as the contents API has it."""
        return self._places.contents_path(path)

    async def _open_as_judged(
        self, action: NotebookEditAction | NotebookSaveAction | NotebookUndoAction
    ) -> Document:
        """The notebook, open or not as it was when the gate and the person judged the action."""
        document = await self.open(action.path)
        if (document.delivery == "disk") != (action.delivery == "disk"):
            # It may be gone, which says more.
            await document.read(())
            done = "closed" if document.delivery == "disk" else "opened"
            raise Conflict(
                "notebook_opened_or_closed",
                f"{action.path} was {done} meanwhile, so nothing was done.",
                "Try it again.",
            )
        return document

    async def require_in_workspace(self, path: str) -> str:
        """The path of a notebook as the contents API has it.

        Raises
        ------
        NotFound
            When it is not in the workspace, links followed.
        """
        place = await asyncio.to_thread(self._places.find, path)
        if not place.in_workspace:
            raise out_of_workspace(path)
        return place.path

    async def _look(self, action: Action) -> NotebookObservation:
        path = _path_of(action)
        document = await self.open(path)
        snapshot = await look(document, action, self._masker)
        # What runs in the sandbox may have put a link in its place meanwhile.
        await self.open(path)
        masker, read, pictures = self._masker, list[ReadCell](), list[Picture]()
        match action:
            case NotebookOutlineAction(first=first, limit=limit, query=query):
                content = await asyncio.to_thread(
                    outline_text, snapshot, masker, first, limit, query
                )
            case NotebookReadAction():
                content, read, pictures = await asyncio.to_thread(self._read, action, snapshot)
            case NotebookSearchAction():
                content = await asyncio.to_thread(search_text, snapshot, action, masker)
            case NotebookOutputAction():
                shown = await asyncio.to_thread(output_shown, snapshot, action, masker)
                content, pictures = shown.text, shown.pictures
            case _:
                raise TypeError(f"{type(action).__name__} is not about notebooks")
        if isinstance(action, _SHOWS_CELLS):
            self._readings.note_look(document.path)
        images = await asyncio.to_thread(keep_pictures, pictures, self._blobs, masker)
        return NotebookObservation(path=path, content=content, read=read, images=images)

    def _read(
        self, action: NotebookReadAction, snapshot: Snapshot
    ) -> tuple[str, list[ReadCell], list[Picture]]:
        content, shown, pictures = cells_text(
            snapshot, action.cells, action.outputs, action.first_line, self._masker
        )
        whole = [
            ReadCell(id=cell.id, rev=cell.rev)
            for cell in shown
            if self._readings.note_page(snapshot.path, cell.id, cell.rev, cell.source, cell.page)
        ]
        return content, whole, pictures

    async def _list(self, action: NotebookListAction) -> str:
        notebooks, places = self._notebooks(), self._places

        def fits(path: str) -> bool:
            shown = places.shown(path)
            name = shown if "/" in action.glob else shown.rpartition("/")[2]
            return not action.glob or fnmatch.fnmatchcase(name, action.glob)

        opened = [n for n in notebooks.open_in_browser() if fits(n.path)]
        found: list[str] = []
        more = False
        if not action.open_only:
            found, more = await notebooks.files(places.folder, fits)
        open_paths = {notebook.path for notebook in opened}
        rest = [places.shown(path) for path in found if path not in open_paths]
        return list_text([(places.shown(n.path), n) for n in opened], rest, more)

    def _provenance(self, action: Action) -> Provenance:
        return Provenance(
            session=self._session,
            event=action.id,
            model=action.llm.model if action.llm else "",
            approver="user" if action.id in self._state.decisions else "nobody",
            time=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    # Making and saving

    async def _create(self, action: NotebookCreateAction) -> Observation:
        path = await self.require_in_workspace(action.path)
        mark = msgspec.to_builtins(self._provenance(action))
        cells = [
            new_cell(uuid4().hex[:8], cell.type, with_newlines(cell.source), {KEY: mark})
            for cell in action.cells
        ]
        kernel = action.kernel or "python3"
        await self._keep_made(action, cells)
        try:
            await self._notebooks().create(
                path,
                {
                    "nbformat": 4,
                    "nbformat_minor": 5,
                    "metadata": {"kernelspec": {"name": kernel, "display_name": kernel}},
                    "cells": cells,
                },
            )
        except OpenHandsError:
            await asyncio.to_thread(self._kept.put, action.id, [])
            raise
        edits = []
        for position, cell in enumerate(cells):
            self._readings.note(path, cell["id"], cell_rev(cell), cell["source"])
            edits.append(
                CellEdit(
                    id=cell["id"],
                    what="inserted",
                    cell_type=cell["cell_type"],
                    after=cell["source"],
                    position=position,
                    group=position,
                )
            )
        revs = "".join(f"\n{cell['id']}: rev {cell_rev(cell)}" for cell in cells)
        nb_rev = notebook_rev(cells)
        opened = await self._show(path) if action.open else ""
        return NotebookEditObservation(
            path=action.path,
            delivery="disk",
            nb_rev=nb_rev,
            cells=edits,
            content=f"Made {action.path}; nb_rev {nb_rev}.{revs}{opened}",
        )

    async def _show(self, path: str) -> str:
        """Have a notebook opened for the person; what the agent is told of it."""
        try:
            await self._notebooks().tabs.show(path)
        except OutcomeUnknown:
            return "\nNobody knows whether it was opened in JupyterLab."
        except OpenHandsError as error:
            return f"\nIt was not opened in JupyterLab: {error.message}"
        return (
            "\nIt is open in the person's JupyterLab, behind what they look at, without a kernel."
        )

    async def _keep_made(self, action: NotebookCreateAction, cells: Sequence[Cell]) -> None:
        steps = [
            InsertCell(after=before["id"] if before else None, cell=dict(cell))
            for before, cell in zip([None, *cells], cells, strict=False)
        ]
        made = KeptEdit(
            path=self._places.absolute(action.path),
            records=records([], Change(steps=list(steps))),
            made=True,
        )
        await asyncio.to_thread(self._kept.put, action.id, [made])

    async def _saved(self, action: NotebookSaveAction, document: Document) -> Observation:
        return NotebookEditObservation(
            path=action.path,
            delivery=document.delivery,
            nb_rev=(await document.read(())).nb_rev,
            content=f"Saved {action.path}.",
        )


def _path_of(action: Action) -> str:
    assert isinstance(action, NotebookRead | NotebookWrite)
    assert not isinstance(action, NotebookListAction)
    return action.path
