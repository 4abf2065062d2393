"""Gives what a person's variable holds as a file; after `kinds`, in the same namespace.

Only values whose very class is Python's own or a known library's are given, as Parquet, in NumPy's
format without pickles, or as JSON. It leaves ``told``: base64 of JSON, or nothing.
"""

from __future__ import annotations

import base64
import importlib.util
import io
import json
import random
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .kinds import (
        columns_of,
        dtype_text,
        is_genuine,
        is_one_of,
        known,
        known_class,
        label_text,
        module_of,
        type_text,
    )

FRAMES = ("pandas.DataFrame", "polars.DataFrame", "pyarrow.Table")
SERIES = ("pandas.Series", "polars.Series")

MOST_IN_MEMORY = 256_000_000
"""Bytes of what is copied, before it is made a file."""

MOST_VALUES = 1_000_000
DEEPEST = 50
"""Of lists and dicts."""

LONGEST_REASON = 500
TELLING = ("builtins", "pandas", "polars", "pyarrow", "numpy")

PLAIN = (type(None), bool, int, float, str, bytes)
STANDARD = ("decimal.Decimal", "datetime.date", "datetime.timedelta", "uuid.UUID")
SCALARS = ("pandas.Timestamp", "pandas.Timedelta")

names: dict[str, Any] = globals()["names"]
asked: dict[str, Any] = globals()["asked"]


class Refused(Exception):
    """It is not copied: a code, and what it is about."""


def tell() -> dict[str, Any]:
    """All that is told; what the variable holds only if it is asked for."""
    if time.time() > asked["until"]:
        return {}
    try:
        if asked["variable"] not in names:
            raise Refused("no_such_name", "")
        return copied(names[asked["variable"]])
    except Refused as refused:
        return {"refused": refused.args[0], "detail": refused.args[1]}
    except Exception as error:
        # Only a library's error is asked for its text.
        module = module_of(type(error))
        told = str(error) if str.split(module, ".")[0] in TELLING else ""
        detail = type_text(type(error)) + ": " + told[:LONGEST_REASON]
        return {"refused": "not_convertible", "detail": detail}


def copied(value: Any) -> dict[str, Any]:
    """What is or would be copied of a value."""
    path = known_class(type(value)) or ""
    if path in FRAMES or path in SERIES:
        form = "parquet"
    elif path == "numpy.ndarray":
        form = "npy"
    elif is_one_of(type(value), (*PLAIN[:-1], list, tuple, dict)):
        form, path = "json", type(value).__name__
    else:
        raise Refused("not_copied", type_text(type(value)))
    shape = shape_of(value, form)
    rows = min(shape[0], asked["rows"]) if shape else 1
    told = {"type": path, "shape": shape, "rows": rows, "format": form}
    if asked["seen"] and asked["seen"] != told:
        raise Refused("variable_changed", "")
    if form != "json":
        of_part = rows / max(shape[0] if shape else 1, 1)
        # Only a table may get smaller as a file.
        limit = asked["most"] if form == "npy" else MOST_IN_MEMORY
        if size_of(value, path) * of_part > limit:
            raise Refused("too_large", "")
    part = part_of(value, path, shape[0], rows) if shape else value
    CHECKS[form](part, path)
    if asked["seen"]:
        content = FORMATS[form](part, path)
        if len(content) > asked["most"]:
            raise Refused("too_large", "")
        told["content"] = base64.b64encode(content).decode()
    return told


def shape_of(value: Any, form: str) -> list[int]:
    """How many rows a value has, and what else; nothing where there are none."""
    if form != "json":
        return [int(length) for length in value.shape]
    return [len(value)] if is_one_of(type(value), (list, tuple, dict)) else []


def size_of(value: Any, path: str) -> int:
    """Bytes that a table or an array takes, without those of Python objects."""
    if path == "pandas.DataFrame":
        return int(value.memory_usage(deep=False).sum())
    if path == "pandas.Series":
        return int(value.memory_usage(deep=False))
    return int(value.estimated_size() if path.startswith("polars.") else value.nbytes)


def part_of(value: Any, path: str, length: int, rows: int) -> Any:
    """The rows that are copied, in their order."""
    pick: Any = slice(rows)
    if asked["sample"] == "random" and rows < length:
        # Neither Python's own numbers nor NumPy's are moved on by it.
        pick = sorted(random.Random(0).sample(range(length), rows))
    if path.startswith("pandas."):
        part = value.iloc[pick]
        part.attrs = {}
        return part
    if path == "pyarrow.Table":
        return value.slice(0, rows) if type(pick) is slice else value.take(pick)
    if path in ("polars.DataFrame", "polars.Series", "numpy.ndarray"):
        return value[pick]
    keys = list(value) if path == "dict" else range(length)
    picked = keys[pick] if type(pick) is slice else [keys[place] for place in pick]
    return {key: value[key] for key in picked} if path == "dict" else [value[i] for i in picked]


def check_table(value: Any, path: str) -> None:
    """Refuse columns of the person's own objects, and a table that cannot be written."""
    columns: list[tuple[Any, Any, Any]]
    if path in SERIES:
        columns = [(value.name, value.dtype, value)]
    elif path == "pandas.DataFrame":
        columns = [(c, d, value.iloc[:, i]) for i, (c, d) in enumerate(columns_of(value, path))]
    else:
        columns = [(label, dtype, ()) for label, dtype in columns_of(value, path)]
    if path.startswith("pandas."):
        index = value.index
        levels = index.levels if type(index) is known("pandas.MultiIndex") else [index]
        columns += [("index", level.dtype, level) for level in levels]
    for label, dtype, values in columns:
        if not is_genuine(dtype) or not all(map(is_plain, objects_in(dtype, values))):
            raise Refused("own_objects", label_text(label))
    if not path.startswith("polars.") and importlib.util.find_spec("pyarrow") is None:
        raise Refused("pyarrow_missing", "")


def objects_in(dtype: Any, values: Any) -> Any:
    """Those values of a column that may be of any class."""
    if dtype_text(dtype) in ("object", "Object"):
        return values
    return dtype.categories if type(dtype) is known("pandas.CategoricalDtype") else ()


def is_plain(value: Any) -> bool:
    """Whether a value is no object of the person's own."""
    kind = type(value)
    if kind is known("datetime.datetime"):
        return is_one_of(type(value.tzinfo), (type(None), known("datetime.timezone")))
    if is_one_of(kind, PLAIN) or is_one_of(kind, map(known, (*STANDARD, *SCALARS))):
        return True
    return any(value is known(path) for path in ("pandas.NA", "pandas.NaT"))


def check_array(value: Any, path: str) -> None:
    """Refuse an array of Python objects."""
    if not is_genuine(value.dtype) or value.dtype.hasobject:
        raise Refused("own_objects", "")


def check_json(value: Any, path: str) -> None:
    """Refuse what JSON has not, and too much of it."""
    waiting, seen = [(value, 0)], 0
    while waiting:
        item, depth = waiting.pop()
        kind = type(item)
        seen += len(item) if kind in (str, list, tuple, dict) else 1
        if depth > DEEPEST or seen > asked["most"] or len(waiting) > MOST_VALUES:
            raise Refused("too_large", "")
        if kind is dict:
            if any(type(key) is not str for key in item):
                raise Refused("not_copied", "dict with other keys than text")
            waiting.extend((inner, depth + 1) for inner in item.values())
        elif kind is list or kind is tuple:
            waiting.extend((inner, depth + 1) for inner in item)
        elif not is_one_of(kind, PLAIN[:-1]):
            raise Refused("not_copied", type_text(kind))


def parquet(value: Any, path: str) -> bytes:
    """A table as Parquet."""
    file = io.BytesIO()
    if path in SERIES:
        name = value.name if type(value.name) is str and value.name else "value"
        value = value.to_frame(name)
    if path.startswith("polars."):
        value.write_parquet(file)
    elif path == "pyarrow.Table":
        importlib.import_module("pyarrow.parquet").write_table(value, file)
    else:
        value.to_parquet(file, engine="pyarrow")
    return file.getvalue()


def npy(value: Any, path: str) -> bytes:
    """An array in NumPy's format."""
    file = io.BytesIO()
    importlib.import_module("numpy").save(file, value, allow_pickle=False)
    return file.getvalue()


def as_json(value: Any, path: str) -> bytes:
    """Values of Python's own as JSON."""
    return json.dumps(value).encode()


CHECKS = {"parquet": check_table, "npy": check_array, "json": check_json}
FORMATS = {"parquet": parquet, "npy": npy, "json": as_json}

try:
    told = base64.b64encode(json.dumps(tell()).encode()).decode()
except Exception:
    told = ""
