"""Tells what values in a person's kernel are without calling any of their code.

No `repr`, no property of a class of theirs, no metaclass and no lazy proxy is asked for anything:
what a value is, is taken from `type` itself, and more only of values whose very class is a known
library's. Only what they registered for IPython's ``post_execute`` runs: IPython calls it after
every request.
"""

from __future__ import annotations

import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST_COLUMNS = 12
LONGEST = 100

SIZED = (list, tuple, dict, set, frozenset, str, bytes, bytearray)
TABLES = ("pandas.DataFrame", "geopandas.GeoDataFrame", "polars.DataFrame", "pyarrow.Table")
ARRAYS = (
    "numpy.ndarray",
    "pandas.Series",
    "pandas.Index",
    "geopandas.GeoSeries",
    "polars.Series",
    "scipy.sparse.csr_matrix",
    "scipy.sparse.csc_matrix",
    "scipy.sparse.csr_array",
    "scipy.sparse.csc_array",
    "torch.Tensor",
    "xarray.DataArray",
)
"""Classes that tell their shape and dtype without computing anything."""

LIBRARIES = {path.split(".")[0] for path in TABLES + ARRAYS}
NOT_DATA = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
)

IPYTHONS = ("In", "Out", "exit", "quit")
"""Names that IPython makes anew when a person resets theirs, and then does not hide."""

module_of: Any = type.__dict__["__module__"].__get__
name_of: Any = type.__dict__["__name__"].__get__
qualname_of: Any = type.__dict__["__qualname__"].__get__
mro_of: Any = type.__dict__["__mro__"].__get__


def own_names(names: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The names that the person made, and what they stand for; the newest are the last ones."""
    hidden = hidden_names()
    for name, value in names.copy().items():
        if type(name) is not str or name.startswith("_") or name in IPYTHONS:
            continue
        if hidden.get(name, hidden) is not value and not is_ipythons(value):
            yield name, value


def is_ipythons(value: Any) -> bool:
    """Whether a value is a function that IPython put into the namespace, such as its `open`."""
    function = value.__func__ if type(value) is types.MethodType else value
    if type(function) is not types.FunctionType:
        return False
    home = inside("IPython").get("__path__") or ("\0",)
    return str.startswith(function.__code__.co_filename, home[0])


def is_data(value: Any) -> bool:
    """Whether a value is no class, function or module."""
    not_data = (*NOT_DATA, known("numpy.ufunc"))
    return not any(is_one_of(base, not_data) for base in mro_of(type(value)))


def hidden_names() -> dict[str, Any]:
    """What IPython put into the namespace itself."""
    get_ipython = inside("IPython").get("get_ipython")
    shell = get_ipython() if get_ipython else None
    return shell.user_ns_hidden if shell is not None else {}


def describe(name: str, value: Any) -> dict[str, Any]:
    """A variable without its value."""
    kind = type(value)
    told: dict[str, Any] = {"name": cut(name), "type": "?"}
    # What cannot be told is left out.
    try:
        path = known_class(kind)
        told["type"] = cut(path or type_text(kind))
        if path:
            told["shape"] = [int(length) for length in value.shape]
            told["dtypes"] = [cut(dtype) for dtype in dtypes_of(value, path)]
        elif is_one_of(kind, SIZED):
            told["shape"] = [len(value)]
    except Exception:
        pass
    return told


def known_class(kind: type) -> str | None:
    """The path of a class, if it is a table or an array of a known library."""
    return next((path for path in TABLES + ARRAYS if known(path) is kind), None)


def type_text(kind: type) -> str:
    """A class by its module and name."""
    module, name = module_of(kind), qualname_of(kind)
    is_plain = type(module) is not str or module in ("builtins", "__main__")
    return name if is_plain else f"{module}.{name}"


def dtypes_of(value: Any, path: str) -> list[str]:
    """The dtype of an array, or those of the first columns of a table."""
    if path in ARRAYS:
        return [dtype_text(value.dtype)]
    return [
        f"{label_text(label)}: {dtype_text(dtype)}"
        for label, dtype in columns_of(value, path)[:MOST_COLUMNS]
    ]


def columns_of(value: Any, path: str) -> list[tuple[Any, Any]]:
    """The names and dtypes of a table's columns."""
    if path == "pyarrow.Table":
        return [(field.name, field.type) for field in value.schema]
    # Kernels may be older than `strict`.
    return list(zip(value.columns, value.dtypes))  # noqa: B905


def label_text(label: Any) -> str:
    """The name of a column, which may be an object of the person's."""
    if type(label) is tuple:
        return "/".join(label_text(part) for part in label)
    return str(label) if is_one_of(type(label), (str, int, float)) or is_genuine(label) else "?"


def dtype_text(dtype: Any) -> str:
    """A dtype, which may be of a class of the person's."""
    return str(dtype) if is_genuine(dtype) else "?"


def is_genuine(value: Any) -> bool:
    """Whether the class of a value stands in a library, and not in the person's code."""
    kind = type(value)
    module = module_of(kind)
    if type(module) is not str or module.split(".")[0] not in LIBRARIES:
        return False
    return inside(module).get(name_of(kind)) is kind


def is_one_of(kind: Any, kinds: Iterable[Any]) -> bool:
    """Whether a class is among some: by identity, because `==` may be a metaclass's."""
    return any(kind is other for other in kinds)


def known(path: str) -> Any:
    """The class at a path; None while its library is not loaded."""
    module, _, name = path.rpartition(".")
    return inside(module).get(name)


def inside(module: str) -> dict[str, Any]:
    """What a loaded module holds; a module that loads itself when it is used is left alone."""
    found = sys.modules.get(module)
    return {} if found is None else object.__getattribute__(found, "__dict__")


def cut(text: str) -> str:
    """A text that is not too long."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
