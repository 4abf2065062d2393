"""The hours are in UTC, and each error counts once."""

from checking import require, table_of

wanted = [
    {"hour": "2026-03-28T22:00Z", "errors": "1"},
    {"hour": "2026-03-28T23:00Z", "errors": "2"},
    {"hour": "2026-03-29T01:00Z", "errors": "1"},
]
rows = table_of("errors.csv")
require(rows == wanted, f"the rows are {rows}")
