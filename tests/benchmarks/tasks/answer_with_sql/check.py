"""The answer is what the database says."""

import sqlite3

from checking import json_of, require

with sqlite3.connect("file:shop.db?mode=ro", uri=True) as shop:
    count, cents = shop.execute("SELECT count(*), sum(cents) FROM items").fetchone()
require((count, cents) == (37, 182750), "the database was changed")
answer = json_of("answer.json")
try:
    found = [(entry["customer"], round(float(entry["total"]), 2)) for entry in answer]
except (KeyError, TypeError, ValueError):
    require(False, f"answer.json has another form: {str(answer)[:100]}")
wanted = [("Dmitri", 775.75), ("Esra", 415.5), ("Carla", 244.5)]
require(found == wanted, f"the answer is {found}")
