"""The table has just these rows, in this order."""

from checking import require, require_unchanged, table_of

WANTED = [
    ("Ada Lovelace", "ada@example.org", "2024-01-15"),
    ("Alan Turing", "alan@example.org", "2022-06-07"),
    ("Grace Hopper", "grace@example.org", "2023-05-02"),
    ("Marie Curie", "marie@example.org", "2021-12-24"),
    ("Rosa Luxemburg", "rosa@example.org", "2023-11-30"),
]

require_unchanged("people.csv", "8c1d6b7f62fe4947")
rows = table_of("people_clean.csv")
require(rows, "people_clean.csv has no rows")
require(list(rows[0]) == ["name", "email", "joined"], f"the header is {list(rows[0])}")
found = [(row["name"], row["email"], row["joined"]) for row in rows]
for row in WANTED:
    require(row in found, f"this row is missing: {row}")
for row in found:
    require(row in WANTED, f"this row should not be there: {row}")
require(found == WANTED, "the rows are not in order, or some are there twice")
