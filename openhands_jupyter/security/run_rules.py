"""What cells of notebooks do that are run, in the person's own kernel or in the sandbox."""

from __future__ import annotations

import os

from ..events import Action, NotebookRunAction
from ..events.notebook_runs import NotebookRun
from .scene import Scene

OWN_KERNEL = "Runs in your own kernel, with all your rights and on your data"


def in_own_kernel(action: Action) -> bool:
    """Whether an action runs code in a kernel of the person's."""
    return isinstance(action, NotebookRunAction) and action.kernel == "user"


def check_run(scene: Scene, action: NotebookRun) -> None:
    """Note what the cells would do that are run."""
    if not isinstance(action, NotebookRunAction):
        return
    path = scene.places.notebook(action.path)
    scene.touch(path)
    if action.kernel == "user":
        scene.add("medium", OWN_KERNEL)
        # Where Jupyter starts the kernels of notebooks.
        scene.cwd = os.path.dirname(scene.places.resolve(path))
        language = action.found.language if action.found else ""
        if language != "python":
            scene.add("high", "Cannot be judged: there are no rules for {}", language or "its code")
            return
    for cell in action.planned:
        scene.guarded("cell", cell.source)
    if action.kernel == "user" and scene.reads_outside:
        scene.add("high", "Reads outside the workspace", *scene.reads_outside)
