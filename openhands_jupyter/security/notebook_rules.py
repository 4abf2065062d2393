"""What is done to notebooks, mostly those that a person has open."""

from __future__ import annotations

from ..events import (
    Action,
    NotebookCreateAction,
    NotebookEditAction,
    NotebookListAction,
    NotebookSaveAction,
    NotebookUndoAction,
)
from ..events.notebooks import NotebookRead, NotebookWrite
from .scene import Scene


def is_open(action: Action) -> bool:
    """Whether an action changes or saves a notebook that a person has open."""
    if not isinstance(action, NotebookEditAction | NotebookSaveAction | NotebookUndoAction):
        return False
    return action.delivery in ("tab", "room")


def check_notebook(scene: Scene, action: NotebookRead | NotebookWrite) -> None:
    """Note what an action does to a notebook."""
    if isinstance(action, NotebookListAction):
        return
    path = scene.places.notebook(action.path)
    match action:
        case NotebookCreateAction():
            _write(scene, path)
            if action.open:
                scene.add("medium", "Opens it in your JupyterLab, behind what you look at", path)
        case NotebookSaveAction():
            _write(scene, path)
            if is_open(action):
                scene.add("medium", "Saves a notebook that you have open, as it is", path)
        case NotebookUndoAction():
            _write(scene, path)
            if is_open(action):
                scene.add("medium", "Changes a notebook that you have open", path)
        case NotebookEditAction():
            _check_edit(scene, action, path)
        case _:
            touch_notebook(scene, path)


def touch_notebook(scene: Scene, path: str) -> None:
    """Note that a notebook is used, which the server does."""
    scene.touch(path)
    # The sandbox has folders for temporary files of its own, the server has not.
    if scene.places.place(path) != "workspace" and path not in scene.reads_outside:
        scene.reads_outside.append(path)


def _write(scene: Scene, path: str) -> None:
    scene.write(path)
    touch_notebook(scene, path)
    if path in scene.reads_outside:
        scene.add("high", "Writes outside the workspace", path)


def _check_edit(scene: Scene, action: NotebookEditAction, path: str) -> None:
    _write(scene, path)
    if is_open(action):
        scene.add("medium", "Changes a notebook that you have open", path)
    if any(operation.get("op") == "delete" for operation in action.operations):
        # A merge deletes cells too, but what they hold stays.
        gone = [cell.id for cell in action.cells if cell.what == "deleted"]
        scene.add("high", "Deletes cells", *gone)
