"""Tells what the person's names stand for, so that two answers can be compared; after `kinds`.

An object is told from another one by its identity and, where its very class is Python's own or a
known library's, by what can be had at once: its value, its length, the first of its items, its
shape. An identity alone is not enough, because the place of an object that is gone is used again.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .kinds import describe, is_one_of, own_names

MOST = 2_000
MOST_ITEMS = 20
LONGEST_NAME = 100
LONGEST_VALUE = 1_000

names: dict[str, Any] = globals()["names"]


def look(name: str, value: Any) -> str:
    """What the object of a name is known by."""
    kind = type(value)
    known = [id(kind), id(value), str(describe(name, value))]
    if is_one_of(kind, (list, tuple)):
        known += [id(item) for item in value[:MOST_ITEMS]]
    elif is_one_of(kind, (str, bytes)):
        known.append(hash(value[:LONGEST_VALUE]))
    elif is_one_of(kind, (int, float, complex, bool)):
        known.append(hash(value))
    return str(hash(tuple(known)))


def tell() -> str:
    """All that is told."""
    found = [(name, value) for name, value in own_names(names) if len(name) <= LONGEST_NAME]
    looks = {name: look(name, value) for name, value in found[:MOST]}
    return base64.b64encode(json.dumps(looks).encode()).decode()


try:
    told = tell()
except Exception:
    told = ""
