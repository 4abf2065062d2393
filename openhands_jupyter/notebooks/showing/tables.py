"""Tables among the outputs of cells: what a model needs of them is schema, shape and a few rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from html.parser import HTMLParser
from itertools import zip_longest
from typing import Any

from ...events import Masker
from ...events.masking import MASK
from ..cells import joined

RESOURCE = "application/vnd.dataresource+json"
SHOWN_ROWS = 5
SHOWN_COLUMNS = 30
SHOWN_CHARACTERS = 60
"""Of one value."""

MOST_PARSED = 100_000
"""Characters of HTML in which rows are looked for."""

_SHAPES = (
    re.compile(r"(\d{1,12}) rows \u00d7 (\d{1,12}) columns"),
    re.compile(r"shape: \((\d{1,12}), (\d{1,12})\)"),
)
_NUMBER = re.compile(r"[-+]?[\d,_]*\.?\d+([eE][-+]?\d+)?%?|NaN|nan|inf|<NA>|None|null|")


@dataclass(frozen=True)
class Table:
    """A table, as far as the output holds it.

    Attributes
    ----------
    columns
        Their names, those of the index first, each with its type as far as it is known.
    rows
        The rows that the output holds, as text.
    total_rows, total_columns
        Shape of the whole, without the index; None where the output does not say it.
    """

    columns: list[tuple[str, str]]
    rows: list[list[str]]
    total_rows: int | None
    total_columns: int | None

    def text(self, rows: slice = slice(SHOWN_ROWS), names: Sequence[str] = ()) -> str:
        """Shape, schema and some rows, tabs between the values.

        Parameters
        ----------
        rows
            Which of the rows.
        names
            Of the columns that are wanted; the first ones if empty.
        """
        wanted = [n for n, (name, _) in enumerate(self.columns) if not names or name in names]
        shown = wanted[:SHOWN_COLUMNS]
        more = len(wanted) - len(shown)
        schema = ", ".join(
            f"{_short(name) or '(index)'}{f' ({kind})' if kind else ''}"
            for name, kind in (self.columns[n] for n in shown)
        )
        lines = [f"columns: {schema}{f', and {more:,} more' if more else ''}"]
        lines.append("\t".join(_short(self.columns[n][0]) for n in shown))
        for row in self.rows[rows]:
            lines.append("\t".join(_short(row[n]) if n < len(row) else "" for n in shown))
        return f"table, {self.shape}\n" + "\n".join(lines)

    @property
    def shape(self) -> str:
        """Such as ``1,000 rows x 3 columns``."""
        return _shape(self.total_rows, self.total_columns)


def table_of(data: Mapping[str, Any], masker: Masker) -> Table | None:
    """The table that a mime bundle shows, if any: a table resource, or a data frame's HTML."""
    resource = data.get(RESOURCE)
    if isinstance(resource, dict) and (table := _from_resource(masker.value(resource))):
        return table
    html = joined(data.get("text/html"))
    if "<table" not in html or "dataframe" not in html:
        return None
    # The mask looks like a tag.
    return _from_html(masker.text(html).replace(MASK, escape(MASK)))


def shape_of(data: Mapping[str, Any]) -> str:
    """The shape of a table as its output states it, without a look at the rows; else empty."""
    resource = data.get(RESOURCE)
    rows = resource.get("data") if isinstance(resource, dict) else None
    if isinstance(rows, list):
        return _shape(len(rows), None)
    stated = _stated_shape(joined(data.get("text/html")))
    return _shape(*stated) if stated else ""


def _stated_shape(html: str) -> tuple[int, int] | None:
    found = next((found for found in (p.search(html) for p in _SHAPES) if found), None)
    return (int(found[1]), int(found[2])) if found else None


def _shape(rows: int | None, columns: int | None) -> str:
    said = (f"{n:,}" if n is not None else "?" for n in (rows, columns))
    return "{} rows x {} columns".format(*said)


def _from_resource(resource: dict[str, Any]) -> Table | None:
    """A tabular data resource (specs.frictionlessdata.io), as pandas and nteract show tables."""
    schema, rows = resource.get("schema"), resource.get("data")
    fields = schema.get("fields") if isinstance(schema, dict) else None
    if not isinstance(fields, list) or not isinstance(rows, list):
        return None
    columns = [(str(f.get("name", "")), str(f.get("type", ""))) for f in fields if _is_dict(f)]
    keys = schema.get("primaryKey") if isinstance(schema, dict) else None
    index = set([keys] if isinstance(keys, str) else keys if isinstance(keys, list) else [])
    return Table(
        columns=columns,
        rows=[[str(row.get(name, "")) for name, _ in columns] for row in rows if _is_dict(row)],
        total_rows=len(rows),
        total_columns=sum(name not in index for name, _ in columns),
    )


def _is_dict(value: object) -> bool:
    return isinstance(value, dict)


def _from_html(html: str) -> Table | None:
    parser = _TableParser()
    parser.feed(html[:MOST_PARSED])
    if not parser.head:
        return None
    kinds: list[str] = []
    head = parser.head
    if len(head) > 1 and parser.types_row:
        kinds = head.pop()
    names = [" / ".join(dict.fromkeys(filter(None, parts))) for parts in _transposed(head)]
    rows = [row for row in parser.rows if not set(row) <= {"...", "…"}]
    index = parser.index_columns
    columns = [
        (name, kinds[n] if n < len(kinds) else _kind([row[n] for row in rows if n < len(row)]))
        for n, name in enumerate(names)
    ]
    shape = _stated_shape(html)
    whole = len(html) <= MOST_PARSED
    return Table(
        columns=columns,
        rows=rows,
        total_rows=shape[0] if shape else len(rows) if whole else None,
        total_columns=shape[1] if shape else len(columns) - index,
    )


def _transposed(rows: list[list[str]]) -> list[tuple[str, ...]]:
    return list(zip_longest(*rows, fillvalue=""))


def _kind(values: list[str]) -> str:
    if not any(values):
        return ""
    numbers = (_NUMBER.fullmatch(value[:SHOWN_CHARACTERS].strip()) for value in values)
    return "number" if all(numbers) else "text"


def _short(value: str) -> str:
    value = " ".join(value.split())
    return value if len(value) <= SHOWN_CHARACTERS else f"{value[: SHOWN_CHARACTERS - 1]}…"


class _TableParser(HTMLParser):
    """Reads the first table of a page.

    Attributes
    ----------
    head, rows
        Texts of the cells, a cell that spans several places repeated in each.
    types_row
        Whether the last row of the head are types, which polars writes as plain cells.
    index_columns
        Number of header cells that each row begins with.
    """

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.head: list[list[str]] = []
        self.rows: list[list[str]] = []
        self.types_row = False
        self.index_columns = 0
        self._in_head = False
        self._ended = False
        self._row: list[str] | None = None
        self._text: list[str] | None = None
        self._headers = 0
        self._plain = 0
        self._span = 1
        self._rowspan = 1
        self._spanning: dict[int, tuple[int, str]] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._ended:
            return
        if tag == "thead":
            self._in_head = True
        elif tag == "tr":
            self._end_row()
            self._row, self._headers, self._plain = [], 0, 0
        elif tag in ("th", "td") and self._row is not None:
            self._end_cell()
            self._text = []
            spans = {name: _span(value) for name, value in attrs}
            self._span, self._rowspan = spans.get("colspan", 1), spans.get("rowspan", 1)
            self._headers += tag == "th"
            self._plain += tag == "td"

    def handle_endtag(self, tag: str) -> None:
        if self._ended:
            return
        if tag in ("th", "td"):
            self._end_cell()
        elif tag in ("tr", "thead", "tbody", "table"):
            self._end_row()
            self._in_head = self._in_head and tag == "tr"
            self._ended = tag == "table"

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def _end_cell(self) -> None:
        if self._text is None or self._row is None:
            return
        text = "".join(self._text).strip()
        self._text = None
        self._fill_from_above()
        for _ in range(self._span):
            if self._rowspan > 1:
                self._spanning[len(self._row)] = (self._rowspan - 1, text)
            self._row.append(text)

    def _fill_from_above(self) -> None:
        """Repeat the cells of rows above that reach into this one."""
        assert self._row is not None
        while (place := len(self._row)) in self._spanning:
            left, text = self._spanning.pop(place)
            if left > 1:
                self._spanning[place] = (left - 1, text)
            self._headers += 1
            self._row.append(text)

    def _end_row(self) -> None:
        self._end_cell()
        if self._row is None:
            return
        if self._in_head:
            self._add_to_head(self._row)
        elif self._row:
            if not self.rows:
                self.index_columns = self._headers
            self.rows.append(self._row)
        self._row = None

    def _add_to_head(self, row: list[str]) -> None:
        self.types_row = self._plain > 0 and self._headers == 0
        self.head.append(row)


def _span(value: str | None) -> int:
    return max(1, min(int(value), 1000)) if value and value.isdecimal() else 1
