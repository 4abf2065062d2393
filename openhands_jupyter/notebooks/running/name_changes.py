"""Which names of a kernel stand for something else after a run than before."""

from __future__ import annotations

from collections.abc import Mapping, Set

import msgspec

from ...events import NameChanges
from ..in_kernel.asking import NoAnswer, ask
from .kernels import Attachment, KernelDied, Kernels

ANSWERS_WITHIN = 5.0
"""Seconds that an idle kernel has for an answer."""

MOST = 40
"""Names that are told of each kind."""


class NotKnown(Exception):
    """What the names stand for is not known; it says why."""


async def looks_of(kernels: Kernels, kernel: Attachment, id: str) -> dict[str, str]:
    """What each name stands for, as `in_kernel.bindings` tells it.

    Parameters
    ----------
    kernels
        The kernels of the server.
    kernel, id
        One of them.

    Raises
    ------
    NotKnown
        When the kernel is busy, or none of Python's, or does not answer as it should.
    """
    try:
        found = await kernels.settled(id)
    except KernelDied:
        raise NotKnown("the kernel is gone") from None
    if found.language != "python":
        raise NotKnown("the kernel is none of Python's")
    if found.state != "idle":
        raise NotKnown("the kernel was busy with something else")
    try:
        told = await ask(kernel, "bindings", {}, ANSWERS_WITHIN)
        return msgspec.convert(told, dict[str, str])
    except (NoAnswer, msgspec.ValidationError):
        raise NotKnown("the kernel did not tell") from None


def compare(before: Mapping[str, str], after: Mapping[str, str]) -> NameChanges:
    """What became of the names."""
    new, deleted = after.keys() - before.keys(), before.keys() - after.keys()
    changed = {name for name in before.keys() & after.keys() if before[name] != after[name]}
    return NameChanges(
        new=_first(new),
        changed=_first(changed),
        deleted=_first(deleted),
        left_out=sum(max(len(names) - MOST, 0) for names in (new, changed, deleted)),
    )


def _first(names: Set[str]) -> list[str]:
    return sorted(names)[:MOST]
