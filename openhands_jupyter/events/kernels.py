"""What the agent does with kernels by means of the server, mostly with those of a person."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal

import msgspec

from .effects import TouchedFiles
from .event import Action, Observation
from .running import Interruption, Output

Whose = Literal["sandbox", "user"]
"""The session's own kernel in the sandbox; that of a notebook, which is the person's."""


class UserKernel(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A kernel that runs, as it was found before the person is asked.

    Attributes
    ----------
    id
        Jupyter's.
    name
        As people know it, such as ``Python 3 (ipykernel)``.
    language
        Such as ``python``.
    state
        As Jupyter has it, such as ``idle`` or ``busy``.
    """

    id: str
    name: str
    language: str = ""
    state: str = ""


class KernelCodeAction(Action, frozen=True, kw_only=True, tag=True):
    """Run code in the kernel of a notebook, beside the person's own names.

    Attributes
    ----------
    path
        The notebook, relative to the workspace or absolute.
    keep
        Names that the person's namespace gets from the code; all others are forgotten.
    why
        The purpose, for the person.
    timeout
        Seconds after which it is interrupted; None for the default.
    kernel
        The kernel, found before the person is asked.
    """

    runnable: ClassVar[bool] = True

    path: str
    code: str
    keep: list[str] = []
    why: str = ""
    timeout: float | None = None
    kernel: UserKernel | None = None


class KernelInspectAction(Action, frozen=True, kw_only=True, tag=True):
    """Look at variables of a kernel, by fixed code that calls none of the person's.

    Attributes
    ----------
    names
        Which ones; empty for a list of all.
    query
        Only names with this text, in a list.
    whose
        In which kernel.
    path
        The notebook whose kernel is meant; empty for the sandbox.
    depth
        How much is told of each: its kind and size, also what it holds, also what is in that.
    """

    runnable: ClassVar[bool] = True
    changes_files: ClassVar[bool] = False

    names: list[str] = []
    query: str = ""
    whose: Whose = "sandbox"
    path: str = ""
    depth: int = 1


class KernelLookAction(Action, frozen=True, kw_only=True, tag=True):
    """Look at what a kernel is and does, or which packages it has.

    Attributes
    ----------
    what
        Which of these.
    whose, path
        As with `KernelInspectAction`.
    """

    runnable: ClassVar[bool] = True
    changes_files: ClassVar[bool] = False

    what: Literal["state", "packages"] = "state"
    whose: Whose = "sandbox"
    path: str = ""


class KernelControlAction(Action, frozen=True, kw_only=True, tag=True):
    """Interrupt what a kernel does, or restart it.

    Attributes
    ----------
    what
        Which of these.
    whose, path
        As with `KernelInspectAction`.
    why
        The purpose, for the person.
    kernel
        A kernel of theirs, found before they are asked.
    lost
        Their names that go with a restart; None where they are not known, as it is busy.
    """

    runnable: ClassVar[bool] = True
    changes_files: ClassVar[bool] = False

    what: Literal["interrupt", "restart"]
    whose: Whose = "sandbox"
    path: str = ""
    why: str = ""
    kernel: UserKernel | None = None
    lost: list[str] | None = None


class KernelVariable(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A variable as it was found, and what is copied of it.

    Attributes
    ----------
    type
        Its class, such as ``pandas.DataFrame``.
    shape
        Rows, columns and so on; empty for a single value.
    rows
        How many of the rows are copied; 1 for a single value.
    format
        Of the file: tables are Parquet, arrays NumPy's own, else JSON. None can hold code.
    """

    type: str
    shape: list[int] = []
    rows: int = 1
    format: Literal["parquet", "npy", "json"]


class KernelCopyAction(Action, frozen=True, kw_only=True, tag=True):
    """Copy a variable of a person's kernel, or a part of it, into the sandbox.

    Attributes
    ----------
    path
        The notebook whose kernel is meant.
    variable
        Its name.
    rows
        The most rows that are copied.
    sample
        Which ones, where it has more: the first, or some at random.
    why
        The purpose, for the person.
    kernel, found
        The kernel and the variable, found before the person is asked.
    """

    runnable: ClassVar[bool] = True
    changes_files: ClassVar[bool] = False

    path: str
    variable: str
    rows: int = 100_000
    sample: Literal["head", "random"] = "head"
    why: str = ""
    kernel: UserKernel | None = None
    found: KernelVariable | None = None


KernelRead = KernelInspectAction | KernelLookAction
"""What looks at kernels and changes nothing."""

KernelWrite = KernelCodeAction | KernelControlAction | KernelCopyAction


class KernelCodeObservation(Observation, frozen=True, kw_only=True, tag=True):
    """What code printed, displayed and raised in the kernel of a notebook.

    Attributes
    ----------
    kernel
        The kernel.
    ok
        False when it raised or did not end by itself.
    interrupted
        Why it did not end by itself, else empty.
    seconds
        How long it took; None where it did not begin.
    kept
        Names that the person's namespace got, as was approved.
    changed
        Other names of theirs that are bound otherwise than before.
    files
        What became of the files of the workspace; None where that is not known.
    notice
        What else is to be known.
    """

    path: str
    kernel: UserKernel
    outputs: list[Output] = []
    ok: bool = True
    interrupted: Interruption = ""
    seconds: float | None = None
    kept: list[str] = []
    changed: list[str] = []
    files: TouchedFiles | None = None
    notice: str = ""


class KernelObservation(Observation, frozen=True, kw_only=True, tag=True):
    """What was found in a kernel, or done to it.

    Attributes
    ----------
    whose
        In whose kernel.
    path
        The notebook whose kernel it is; empty for the sandbox.
    content
        As the model is shown it: what is from the kernel stands there as data.
    known_at
        When that was so, where the kernel was busy; else None.
    """

    whose: Whose
    path: str = ""
    content: str
    known_at: datetime | None = None


class KernelCopyObservation(Observation, frozen=True, kw_only=True, tag=True):
    """What was copied of a variable; not what it holds.

    Attributes
    ----------
    path, variable
        As with `KernelCopyAction`.
    copied
        What it is.
    file
        Where it is in the sandbox, until that ends.
    size
        Bytes of the file.
    """

    path: str
    variable: str
    copied: KernelVariable
    file: str
    size: int
