"""Copies variables of a person's kernel into the sandbox, as files that can hold no code."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from ..errors import Conflict, Invalid, OpenHandsError
from ..events import (
    KernelCopyAction,
    KernelCopyObservation,
    KernelVariable,
    Masker,
    UserKernel,
)
from ..events.blobs import cut
from ..notebooks.in_kernel.asking import NoAnswer, ask
from ..notebooks.running.kernels import Kernels
from .kernel_code import kernel_busy

LARGEST = 16_000_000
"""Bytes of a file: it comes as one message, which the server has in memory several times."""

WITHIN = 30.0
"""Seconds in which an idle kernel makes the file."""

LONGEST_DETAIL = 600

REFUSALS = {
    "no_such_name": (
        "The kernel has no variable {name}.",
        "Look with inspect which there are.",
    ),
    "not_copied": (
        "{name} is or holds {detail}, which is not copied: only tables of pandas, Polars and "
        "PyArrow, arrays of NumPy, and lists, dicts and plain values.",
        "Make one of these of it with run_code, or work with it there.",
    ),
    "own_objects": (
        "{name} holds Python objects that are not copied: {detail}.",
        "Make text or numbers of them in a copy with run_code, or leave that column out.",
    ),
    "pyarrow_missing": (
        "The user's kernel has no pyarrow, which writes tables for the sandbox.",
        "Ask to install it: kernel with action='install', kernel='user', packages=['pyarrow']. "
        "In a cell that is %pip install pyarrow.",
    ),
    "too_large": (
        "What would be copied of {name} is too large: a file may have {largest} MB.",
        "Copy fewer rows, or make a smaller table with run_code.",
    ),
    "variable_changed": (
        "{name} is another one now than when you asked, so nothing was copied.",
        "Try it again.",
    ),
    "not_convertible": (
        "{name} could not be made a file. {detail}",
        "Change a copy of it with run_code so that it can.",
    ),
}


class _Told(msgspec.Struct):
    """What the kernel tells; it comes from outside."""

    refused: str = ""
    detail: str = ""
    content: str = ""


class KernelCopying:
    """Asks kernels for variables.

    Parameters
    ----------
    kernels
        The kernels of the server.
    masker
        Knows the secrets, which may be in what an error says.
    bring
        Writes a file into the sandbox: its name, its content; gives the path.
    """

    def __init__(
        self, kernels: Kernels, masker: Masker, bring: Callable[[str, bytes], Awaitable[str]]
    ) -> None:
        self._kernels = kernels
        self._masker = masker
        self._bring = bring

    async def find(self, action: KernelCopyAction, kernel: UserKernel) -> KernelVariable:
        """What would be copied.

        Raises
        ------
        OpenHandsError
            When it cannot be, or the kernel does not answer.
        """
        _, found = await self._ask(action, kernel, None)
        return found

    async def copy(self, action: KernelCopyAction, kernel: UserKernel) -> KernelCopyObservation:
        """Copy what was found, if it is still that.

        Raises
        ------
        OpenHandsError
            When it cannot be, or the kernel does not answer.
        """
        told, found = await self._ask(action, kernel, action.found)
        try:
            content = await asyncio.to_thread(base64.b64decode, told.content)
        except ValueError:
            raise _makes_no_sense(action) from None
        if found != action.found or len(content) > LARGEST:
            raise _makes_no_sense(action)
        file = await self._bring(f"{action.variable}.{found.format}", content)
        return KernelCopyObservation(
            path=action.path,
            variable=action.variable,
            copied=found,
            file=file,
            size=len(content),
        )

    async def _ask(
        self, action: KernelCopyAction, kernel: UserKernel, seen: KernelVariable | None
    ) -> tuple[_Told, KernelVariable]:
        asked = {
            "variable": action.variable,
            "rows": action.rows,
            "sample": action.sample,
            "most": LARGEST,
            "seen": None if seen is None else _all_of(seen),
        }
        try:
            attachment = await self._kernels.attach(kernel.id)
            answer = await ask(attachment, "copying", asked, WITHIN)
        except NoAnswer:
            raise kernel_busy(action.path) from None
        try:
            told = msgspec.convert(answer, _Told)
            if told.refused:
                raise self._refusal(action, told)
            return told, msgspec.convert(answer, KernelVariable)
        except msgspec.ValidationError:
            raise _makes_no_sense(action) from None

    def _refusal(self, action: KernelCopyAction, told: _Told) -> OpenHandsError:
        if told.refused not in REFUSALS:
            return _makes_no_sense(action)
        message, hint = REFUSALS[told.refused]
        detail = cut(self._masker.text(" ".join(told.detail.split())), LONGEST_DETAIL)
        text = message.format(name=action.variable, detail=detail, largest=LARGEST // 10**6)
        kind = Conflict if told.refused == "variable_changed" else Invalid
        return kind(told.refused, text, hint)


def _all_of(seen: KernelVariable) -> dict[str, Any]:
    """As the kernel tells it, with what is left out elsewhere."""
    return {
        "type": seen.type,
        "shape": seen.shape,
        "rows": seen.rows,
        "format": seen.format,
    }


def _makes_no_sense(action: KernelCopyAction) -> Conflict:
    return Conflict("kernel_tells_nothing", f"The kernel of {action.path} gave no such variable.")
