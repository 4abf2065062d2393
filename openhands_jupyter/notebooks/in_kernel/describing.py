"""Tells what a person's variables hold; after `kinds`, in the same namespace.

Only values whose very class is Python's own or a known library's are looked into. It leaves
``told``: base64 of JSON, or nothing.
"""

from __future__ import annotations

import base64
import json
import sys
import time
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .kinds import (
        TABLES,
        columns_of,
        describe,
        dtype_text,
        inside,
        is_genuine,
        is_one_of,
        known,
        known_class,
        label_text,
        mro_of,
        own_names,
        type_text,
    )

MOST_LISTED = 200
MOST_COLUMNS_TOLD = 30
MOST_ROWS = 5
MOST_ITEMS = 10
MOST_METHODS = 40
MOST_COMPUTED = 5_000_000
"""Values of a table or an array for which nulls and range are computed."""

MOST_OBJECTS = 200_000
"""Values of a column of Python objects that are looked through for nulls."""

LONGEST_TEXT = 2_000
"""Characters of a text; fewer are shown, after secrets were masked in it."""

LONGEST_INT = 4_000
"""Bits of a number that is written out."""

PLAIN = (type(None), bool, float, complex, range, type(Ellipsis))
COLLECTIONS = (list, tuple, set, frozenset, dict)
FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)
STANDARD = ("decimal.Decimal", "datetime.date", "datetime.timedelta", "pathlib.PosixPath")
"""Classes of Python's own whose values are written out."""
SCALARS = ("pandas.Timestamp", "pandas.Timedelta", "pandas.Period")

class_space: Any = type.__dict__["__dict__"].__get__

names: dict[str, Any] = globals()["names"]
asked: dict[str, Any] = globals()["asked"]


def tell() -> dict[str, Any]:
    """All that is told."""
    if time.time() > asked["until"]:
        return {}
    if not asked["names"]:
        query = asked["query"].lower()
        fits = [(name, value) for name, value in own_names(names) if query in name.lower()]
        listed = [outline(name, value) for name, value in fits[-MOST_LISTED:]]
        return {"variables": listed, "left_out": len(fits) - len(listed)}
    return {
        "variables": [look(name, names[name]) for name in asked["names"] if name in names],
        "missing": [name for name in asked["names"] if name not in names],
    }


def outline(name: str, value: Any) -> dict[str, Any]:
    """A variable by its kind and size alone."""
    return {**describe(name, value), "kind": kind_of(value)}


def kind_of(value: Any) -> str:
    """What a value is, in a word."""
    kind = type(value)
    path = known_class(kind)
    if path:
        return "table" if path in TABLES else "array"
    if is_one_of(kind, FUNCTIONS):
        return "function"
    if kind is types.ModuleType:
        return "module"
    if any(is_one_of(base, (type,)) for base in mro_of(kind)):
        return "class"
    if is_one_of(kind, COLLECTIONS):
        return "collection"
    return "value" if plain_text(value) is not None else "object"


def look(name: str, value: Any) -> dict[str, Any]:
    """A variable, with what it holds."""
    told = outline(name, value)
    if asked["depth"] < 1:
        return told
    # What cannot be told is left out.
    try:
        told.update(LOOKS[told["kind"]](value))
    except Exception as error:
        told["notes"] = ["It could not be looked into: " + type_text(type(error))]
    return told


def look_at_table(value: Any) -> dict[str, Any]:
    """The size, the columns and the first rows of a table."""
    path = known_class(type(value)) or ""
    rows, width = (int(length) for length in value.shape)
    columns = [column(value, path, place) for place in range(min(width, MOST_COLUMNS_TOLD))]
    told: dict[str, Any] = {"columns": columns, "columns_left_out": width - len(columns)}
    if rows * width > MOST_COMPUTED:
        told["notes"] = ["too large to count nulls and to find ranges"]
    told["rows"] = [
        [cell["sample"][row] for cell in columns] for row in range(min(rows, MOST_ROWS))
    ]
    told["size"] = size_of_table(value, path)
    for cell in columns:
        del cell["sample"]
    return told


def size_of_table(value: Any, path: str) -> Any:
    """Bytes that a table takes, without those of Python objects."""
    if path == "pyarrow.Table":
        return int(value.nbytes)
    if path == "polars.DataFrame":
        return int(value.estimated_size())
    if all(is_genuine(dtype) for dtype in value.dtypes):
        return int(value.memory_usage(deep=False).sum())
    return None


def column(table: Any, path: str, place: int) -> dict[str, Any]:
    """A column of a table."""
    label, dtype = columns_of(table, path)[place]
    told: dict[str, Any] = {"name": label_text(label), "dtype": dtype_text(dtype)}
    length = int(table.shape[0])
    told["sample"] = ["?"] * min(length, MOST_ROWS)
    if not is_genuine(dtype):
        return told
    if path == "pyarrow.Table":
        values = table.column(place)
    elif path == "polars.DataFrame":
        values = table.get_column(label)
    else:
        values = table.iloc[:, place]
    told["sample"] = [plain_or_type(item) for item in first(values, path, MOST_ROWS)]
    if length * int(table.shape[1]) <= MOST_COMPUTED:
        told.update(summary(values, dtype, path))
    return told


def first(values: Any, path: str, count: int) -> list[Any]:
    """The first values of a column or a series."""
    if path.startswith("pyarrow."):
        return list(values.slice(0, count).to_pylist())
    if path.startswith("polars."):
        return list(values.head(count).to_list())
    return list(values.iloc[:count])


def summary(values: Any, dtype: Any, path: str) -> dict[str, Any]:
    """The nulls and the range of a column or a series, as far as the library computes them."""
    if path.startswith("pyarrow."):
        return {"nulls": int(values.null_count), **range_of_arrow(values)}
    if path.startswith("polars."):
        told: dict[str, Any] = {"nulls": int(values.null_count())}
        if dtype.is_numeric() or dtype.is_temporal():
            told.update(ends(values.min(), values.max()))
        return told
    if getattr(dtype, "kind", "O") == "O" and dtype_text(dtype) == "object":
        return nulls_of_objects(values)
    told = {"nulls": int(values.isna().sum())}
    if getattr(dtype, "kind", "") in "iufmM" and len(values) > told["nulls"]:
        told.update(ends(values.min(), values.max()))
    return told


def range_of_arrow(values: Any) -> dict[str, Any]:
    """The range of a column of pyarrow's, where its functions are loaded."""
    compute = inside("pyarrow.compute").get("min_max")
    types_of_arrow = inside("pyarrow.types")
    is_number = any(
        types_of_arrow[check](values.type)
        for check in ("is_integer", "is_floating", "is_temporal")
        if check in types_of_arrow
    )
    if compute is None or not is_number:
        return {}
    both = compute(values).as_py()
    return ends(both["min"], both["max"])


def nulls_of_objects(values: Any) -> dict[str, Any]:
    """The nulls among Python objects, of which none is asked whether it is one."""
    if len(values) > MOST_OBJECTS:
        return {}
    nothing = [found for found in (known("pandas.NA"), known("pandas.NaT")) if found is not None]
    found = sum(
        1
        for item in values
        if item is None or is_one_of(item, nothing) or (type(item) is float and item != item)
    )
    return {"nulls": found}


def ends(low: Any, high: Any) -> dict[str, Any]:
    """A range, of which both ends are a library's or Python's own."""
    if low is None or high is None:
        return {}
    return {"low": plain_or_type(low), "high": plain_or_type(high)}


def look_at_array(value: Any) -> dict[str, Any]:
    """The size, the nulls, the range and the first values of an array."""
    path = known_class(type(value)) or ""
    if path == "numpy.ndarray":
        return look_at_numpy(value)
    if path not in ("pandas.Series", "polars.Series") or not is_genuine(value.dtype):
        return {}
    told: dict[str, Any] = {
        "items": [plain_or_type(item) for item in first(value, path, MOST_ITEMS)],
    }
    if len(value) <= MOST_COMPUTED:
        told.update(summary(value, value.dtype, path))
    return told


def look_at_numpy(value: Any) -> dict[str, Any]:
    """As `look_at_array`, for one of numpy's."""
    numpy, kind = inside("numpy"), value.dtype.kind
    told: dict[str, Any] = {"size": int(value.nbytes)}
    told["items"] = [plain_or_type(item) for item in value.flat[:MOST_ITEMS]]
    if not 0 < value.size <= MOST_COMPUTED or kind not in "biufmM":
        return told
    if kind in "fmM":
        missing = (numpy["isnan"] if kind == "f" else numpy["isnat"])(value)
        told["nulls"] = int(missing.sum())
        value = value[~missing]
    if value.size:
        told.update(ends(value.min(), value.max()))
    return told


def look_at_collection(value: Any) -> dict[str, Any]:
    """The first items of a collection, and the bytes that it takes without them."""
    return {"size": sys.getsizeof(value), "items": items_of(value, asked["depth"])}


def items_of(value: Any, depth: int) -> list[str]:
    """The first items of a collection as text."""
    listed: list[str] = []
    for item in value:
        if len(listed) == MOST_ITEMS:
            break
        text = inner_text(item, depth)
        listed.append(f"{text}: {inner_text(value[item], depth)}" if type(value) is dict else text)
    return listed


def inner_text(value: Any, depth: int) -> str:
    """What is in a collection, as text."""
    if depth < 2 or not is_one_of(type(value), COLLECTIONS):
        return plain_or_type(value)
    left_out = ", …" if len(value) > MOST_ITEMS else ""
    return f"{type_text(type(value))}({', '.join(items_of(value, depth - 1))}{left_out})"


def look_at_function(value: Any) -> dict[str, Any]:
    """The signature and the documentation of a function."""
    told: dict[str, Any] = {"doc": value.__doc__ if type(value.__doc__) is str else ""}
    if type(value) is types.FunctionType:
        told["signature"] = signature(value)
    elif type(value.__text_signature__) is str:
        told["signature"] = value.__text_signature__
    return told


def signature(function: Any) -> str:
    """The parameters of a function of Python's, from its code alone."""
    code = function.__code__
    plain, keyword = code.co_argcount, code.co_kwonlyargcount
    parts = list(code.co_varnames[: plain + keyword])
    defaults = dict(function.__kwdefaults__ or {})
    given = function.__defaults__ or ()
    defaults.update(zip(parts[plain - len(given) : plain], given))  # noqa: B905
    parts = [f"{n}={plain_or_type(defaults[n])}" if n in defaults else n for n in parts]
    more = list(code.co_varnames[plain + keyword :])
    if code.co_flags & 4:
        parts.insert(plain, "*" + more.pop(0))
    elif keyword:
        parts.insert(plain, "*")
    if code.co_flags & 8:
        parts.append("**" + more.pop(0))
    if code.co_posonlyargcount:
        parts.insert(code.co_posonlyargcount, "/")
    return f"({', '.join(parts)})"


def look_at_class(value: Any) -> dict[str, Any]:
    """The documentation and the methods of a class."""
    space = class_space(value)
    doc = space.get("__doc__")
    methods = [
        name + signature(member)
        for name, member in space.items()
        if type(name) is str and type(member) is types.FunctionType
        if name == "__init__" or not name.startswith("_")
    ]
    return {"doc": doc if type(doc) is str else "", "methods": methods[:MOST_METHODS]}


def look_at_object(value: Any) -> dict[str, Any]:
    """The class of a value that is not looked into."""
    return look_at_class(type(value))


def look_at_value(value: Any) -> dict[str, Any]:
    """A value as text."""
    return {"size": sys.getsizeof(value), "text": plain_text(value)}


def look_at_module(value: Any) -> dict[str, Any]:
    """The documentation of a module."""
    doc = object.__getattribute__(value, "__dict__").get("__doc__")
    return {"doc": doc if type(doc) is str else ""}


def plain_or_type(value: Any) -> str:
    """A value as text, or its class where its text is the person's code to give."""
    text = plain_text(value)
    return f"<{type_text(type(value))}>" if text is None else text


def plain_text(value: Any) -> str | None:
    """A value as text; None where its class is not Python's own or a known library's."""
    kind = type(value)
    if kind is str or kind is bytes:
        return repr(value[:LONGEST_TEXT])
    if kind is int and value.bit_length() > LONGEST_INT:
        return f"<int of {value.bit_length()} bits>"
    if kind is int or is_one_of(kind, PLAIN):
        return repr(value)
    if is_one_of(kind, map(known, STANDARD)):
        return str(value)[:LONGEST_TEXT]
    return str(value)[:LONGEST_TEXT] if is_scalar(value) else None


def is_scalar(value: Any) -> bool:
    """Whether a value is a time of Python's, or a number or a time of a known library's."""
    kind = type(value)
    if kind is known("datetime.datetime"):
        zones = (type(None), known("datetime.timezone"), known("zoneinfo.ZoneInfo"))
        return is_one_of(type(value.tzinfo), zones)
    if not is_genuine(value):
        return False
    if is_one_of(kind, map(known, SCALARS)) or value is known("pandas.NA"):
        return True
    holds_anything = (known("numpy.void"), known("numpy.object_"))
    bases = mro_of(kind)
    is_numpys = is_one_of(known("numpy.generic"), bases)
    return is_numpys and not any(is_one_of(base, holds_anything) for base in bases)


LOOKS = {
    "table": look_at_table,
    "array": look_at_array,
    "function": look_at_function,
    "module": look_at_module,
    "class": look_at_class,
    "collection": look_at_collection,
    "value": look_at_value,
    "object": look_at_object,
}

try:
    told = base64.b64encode(json.dumps(tell()).encode()).decode()
except Exception:
    told = ""
