"""What a model would do, rightly and wrongly."""

from model_server.script import call

CODE = """import csv
from collections import defaultdict

pages = defaultdict(list)
with open("visits.csv") as file:
    for row in csv.DictReader(file):
        pages[row["page"]].append(float(row["seconds"]))
for page, seconds in sorted(pages.items(), key=lambda item: -len(item[1])):
    print(f"{page}: {len(seconds)} visits, {sum(seconds) / len(seconds):.1f} s")"""


def _create(code: str, last: str):
    cells = [
        {"type": "markdown", "source": "# Visits"},
        {"type": "code", "source": code},
        {"type": "markdown", "source": last},
    ]
    return call("nb_create", path="report.ipynb", cells=cells)


DONE = call("finish", message="Written.")
RIGHT = [_create(CODE, "People stay longest on docs."), DONE]
# In the order of the table.
WRONG = [_create(CODE.replace(", key=lambda item: -len(item[1])", ""), "Longest: docs."), DONE]
