"""The tools for kernels: that of the sandbox, and those of the person's notebooks."""

from __future__ import annotations

import re
import shlex
from typing import Annotated, Literal, Self

from msgspec import Meta

from ..events import (
    Action,
    IPythonRunCellAction,
    KernelCodeAction,
    KernelControlAction,
    KernelCopyAction,
    KernelInspectAction,
    KernelLookAction,
)
from ..events.kernels import Whose
from .tool_arguments import Gated, Timeout, ToolArguments

Kernel = Annotated[
    Whose,
    Meta(
        description="'sandbox' for your own kernel; 'user' for the one in which the user's "
        "notebook at path runs, if it runs: none is started."
    ),
]
NotebookOfKernel = Annotated[
    str, Meta(description="With kernel='user', the notebook whose kernel is meant.")
]

_REQUIREMENT = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9._,-]+\])?([<>=!~]=?[A-Za-z0-9.*,<>=!~]+)?"
)
"""Of which neither a shell nor IPython makes anything else."""


class RunCode(Gated, kw_only=True):
    name = "run_code"
    description = (
        "Run Python code. In kernel='sandbox', your own IPython kernel, variables, imports and "
        "functions persist between calls; prefer it for computing and for working with data. "
        "In kernel='user' the code sees the user's variables, and the user is asked first, every "
        "time. There all names that it binds are forgotten in the end but those in keep, a name "
        "that the user has is bound anew only if it is in keep, and no input can be asked for. "
        "What their objects hold can be changed by it: work on copies. What the last expression "
        "gives, what is printed and figures are shown to you and to the user."
    )
    action_type = IPythonRunCellAction
    other_types = (KernelCodeAction,)

    code: Annotated[str, Meta(description="The code of the cell.")]
    kernel: Kernel = "sandbox"
    path: NotebookOfKernel = ""
    keep: Annotated[
        list[str],
        Meta(description="With kernel='user', names that the user's namespace is to get."),
    ] = []
    why: Annotated[
        str, Meta(description="With kernel='user', the purpose, in a sentence for the user.")
    ] = ""
    timeout: Timeout = 0.0

    def to_action(self) -> Action:
        timeout = self.timeout or None
        if self.kernel == "sandbox":
            if self.path or self.keep:
                raise ValueError("path and keep are for kernel='user'")
            return self.rate(IPythonRunCellAction(code=self.code, timeout=timeout))
        return self.rate(
            KernelCodeAction(
                path=_path(self.path), code=self.code, keep=self.keep, why=self.why, timeout=timeout
            )
        )

    @classmethod
    def of(cls, action: IPythonRunCellAction | KernelCodeAction) -> Self:
        if isinstance(action, IPythonRunCellAction):
            return cls(code=action.code, timeout=action.timeout or 0.0)
        return cls(
            code=action.code,
            kernel="user",
            path=action.path,
            keep=action.keep,
            why=action.why,
            timeout=action.timeout or 0.0,
        )


class Inspect(Gated, kw_only=True):
    name = "inspect"
    description = (
        "Look at variables, functions and classes of a kernel: type, shape, columns with dtypes, "
        "nulls and ranges, size, first rows or items, signature, documentation. Nothing of the "
        "user's own is called. While the user's kernel is busy you get what was known before, "
        "with its time. Without names, all are listed."
    )
    action_type = KernelInspectAction

    names: list[str] = []
    query: Annotated[str, Meta(description="Without names, only those with this text.")] = ""
    kernel: Kernel = "sandbox"
    path: NotebookOfKernel = ""
    depth: Annotated[
        int,
        Meta(ge=0, le=2, description="0 for kind and size, 1 for what it holds, 2 for nested."),
    ] = 1

    def to_action(self) -> Action:
        return self.rate(
            KernelInspectAction(
                names=self.names,
                query=self.query,
                whose=self.kernel,
                path=_path(self.path) if self.kernel == "user" else "",
                depth=self.depth,
            )
        )

    @classmethod
    def of(cls, action: KernelInspectAction) -> Self:
        return cls(
            names=action.names,
            query=action.query,
            kernel=action.whose,
            path=action.path,
            depth=action.depth,
        )


class KernelTool(Gated, kw_only=True):
    name = "kernel"
    description = (
        "Look at a kernel (state, packages), interrupt or restart it, or install packages into "
        "its environment with pip. For the user's kernel, the user is asked before it is "
        "interrupted or restarted, or anything is installed."
    )
    action_type = KernelLookAction
    other_types = (KernelControlAction,)

    action: Literal["state", "packages", "interrupt", "restart", "install"]
    kernel: Kernel = "sandbox"
    path: NotebookOfKernel = ""
    packages: Annotated[
        list[str],
        Meta(description="With action='install', such as 'polars' or 'numpy>=2'."),
    ] = []
    why: Annotated[str, Meta(description="The purpose, in a sentence for the user.")] = ""

    def to_action(self) -> Action:
        path = _path(self.path) if self.kernel == "user" else ""
        match self.action:
            case "install":
                return self.rate(self._install(path))
            case "interrupt" | "restart" as what:
                return self.rate(
                    KernelControlAction(what=what, whose=self.kernel, path=path, why=self.why)
                )
            case what:
                return self.rate(KernelLookAction(what=what, whose=self.kernel, path=path))

    def _install(self, path: str) -> Action:
        if not self.packages:
            raise ValueError("action='install' needs packages")
        for package in self.packages:
            if not _REQUIREMENT.fullmatch(package):
                raise ValueError(f"{package!r} is no name of a package, with or without a version")
        code = f"%pip install {' '.join(map(shlex.quote, self.packages))}"
        if path:
            return KernelCodeAction(path=path, code=code, why=self.why)
        return IPythonRunCellAction(code=code)

    @classmethod
    def of(cls, action: KernelLookAction | KernelControlAction) -> Self:
        return cls(
            action=action.what,
            kernel=action.whose,
            path=action.path,
            why=action.why if isinstance(action, KernelControlAction) else "",
        )


class CopyIn(Gated, kw_only=True):
    name = "copy_in"
    description = (
        "Copy a table, an array, or lists, dicts and plain values from the user's kernel into a "
        "file in the sandbox, to work with it there. The user is asked first, every time: ask for "
        "no more rows than you need. Look at it with inspect before."
    )
    action_type = KernelCopyAction

    path: Annotated[str, Meta(description="The notebook whose kernel is meant.")]
    variable: Annotated[str, Meta(description="Its name; no expression.")]
    rows: Annotated[int, Meta(ge=1, le=1_000_000, description="The most rows to copy.")] = 100_000
    sample: Annotated[
        Literal["head", "random"], Meta(description="The first rows, or some at random.")
    ] = "head"
    why: Annotated[str, Meta(description="The purpose, in a sentence for the user.")] = ""

    def to_action(self) -> Action:
        if not self.variable.isidentifier():
            raise ValueError(f"{self.variable!r} is no name of a variable")
        return super().to_action()


def _path(path: str) -> str:
    if not path:
        raise ValueError("kernel='user' needs the path of the notebook")
    return path


TOOLS: tuple[type[ToolArguments], ...] = (RunCode, Inspect, KernelTool, CopyIn)
