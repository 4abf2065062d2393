"""What is done in kernels of the person's, which no sandbox surrounds."""

from __future__ import annotations

from ..events import Action, KernelCodeAction, KernelControlAction, KernelCopyAction
from ..events.kernels import KernelRead
from .notebook_rules import touch_notebook
from .scene import Scene


def in_persons_kernel(action: Action) -> bool:
    """Whether an action does something in a kernel of the person's, which they are asked for."""
    if isinstance(action, KernelControlAction):
        return action.whose == "user"
    return isinstance(action, KernelCodeAction | KernelCopyAction)


def check_code(scene: Scene, action: KernelCodeAction) -> None:
    """Note what code does in a kernel of the person's."""
    touch_notebook(scene, scene.places.notebook(action.path))
    scene.add("high", "Runs in your own kernel, outside the sandbox, on your own objects")
    if action.keep:
        scene.add("high", "Binds names of your kernel", *action.keep)
    # The folder of the kernel is not known, nor are the names that cells of the person's gave.
    scene.cwd = None
    scene.guarded("cell", action.code)


def check_control(scene: Scene, action: KernelControlAction) -> None:
    """Note that a kernel is interrupted or restarted."""
    if action.whose == "sandbox":
        return
    touch_notebook(scene, scene.places.notebook(action.path))
    if action.what == "interrupt":
        scene.add("high", "Interrupts what your own kernel does")
    else:
        scene.add("high", "Restarts your own kernel, whose variables are lost")


def check_copy(scene: Scene, action: KernelCopyAction) -> None:
    """Note that data of the person's are given to the agent."""
    touch_notebook(scene, scene.places.notebook(action.path))
    scene.add("high", "Copies your data into the sandbox, where the agent reads them unmasked")


def check_look(scene: Scene, action: KernelRead) -> None:
    """Note whose kernel is looked into: by fixed code, so that nothing else can happen."""
    if action.whose == "user":
        touch_notebook(scene, scene.places.notebook(action.path))
