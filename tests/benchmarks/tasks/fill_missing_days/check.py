"""Every day is there, once, with the right numbers."""

from checking import require, table_of

wanted = [
    ("2026-02-26", 10.0, 10.0),
    ("2026-02-27", 16.0, 13.0),
    ("2026-02-28", 22.0, 16.0),
    ("2026-03-01", 28.0, 22.0),
    ("2026-03-02", 25.0, 25.0),
    ("2026-03-03", 22.0, 25.0),
    ("2026-03-04", 4.0, 17.0),
]
rows = table_of("filled.csv")
require(rows and list(rows[0]) == ["day", "load", "mean"], "the columns are not day, load, mean")
try:
    found = [(row["day"], float(row["load"]), float(row["mean"])) for row in rows]
except ValueError as error:
    require(False, f"filled.csv: {error}")
days = [row[0] for row in found]
require(days == [row[0] for row in wanted], f"the days are {days}")
for row, right in zip(found, wanted, strict=True):
    require(row == right, f"{row} should be {right}")
