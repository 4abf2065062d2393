"""What is done in kernels of the person's, which no sandbox surrounds."""

from __future__ import annotations

from ..events import KernelCodeAction, KernelInspectAction
from .notebook_rules import touch_notebook
from .scene import Scene


def check_code(scene: Scene, action: KernelCodeAction) -> None:
    """Note what code does in a kernel of the person's."""
    touch_notebook(scene, scene.places.notebook(action.path))
    scene.add("high", "Runs in your own kernel, outside the sandbox, on your own objects")
    if action.keep:
        scene.add("high", "Binds names of your kernel", *action.keep)
    # The folder of the kernel is not known, nor are the names that cells of the person's gave.
    scene.cwd = None
    scene.guarded("cell", action.code)


def check_inspection(scene: Scene, action: KernelInspectAction) -> None:
    """Note whose variables are looked at: by fixed code, so that nothing else can happen."""
    if action.whose == "user":
        touch_notebook(scene, scene.places.notebook(action.path))
