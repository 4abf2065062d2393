"""Which names of the session's own kernel stand for something else after a run than before."""

from __future__ import annotations

import asyncio

import msgspec

from ..events import NameChanges
from ..notebooks.in_kernel.expressions import expression, told_in
from ..notebooks.running.name_changes import compare
from ..runtime import SandboxRuntime

WITHIN = 2.0
"""Seconds that the kernel has for an answer."""

Looks = dict[str, str]
"""What each name stands for, as `in_kernel.bindings` tells it."""


async def looks_in(sandbox: SandboxRuntime) -> Looks | None:
    """What each name of the session's own kernel stands for; None where that is not known."""
    if not sandbox.has_kernel:
        return {}
    told = await sandbox.ask(expression("bindings", {}), WITHIN)
    try:
        return None if told is None else msgspec.convert(told_in(told), Looks)
    except (ValueError, msgspec.ValidationError):
        return None


async def changes_since(sandbox: SandboxRuntime, before: Looks | None) -> NameChanges | None:
    """What became of the names; None where that is not known."""
    if before is None or not sandbox.has_kernel:
        return None
    try:
        after = await looks_in(sandbox)
    except asyncio.CancelledError:
        # Whoever stops what was run is told what came of it all the same.
        return None
    return None if after is None else compare(before, after)
