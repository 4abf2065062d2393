"""What a model would do, rightly and wrongly."""

from model_server.script import call

CODE = """
import csv
from datetime import datetime

FORMS = ("%Y-%m-%d", "%d.%m.%Y", "%b %d, %Y")


def date(text):
    for form in FORMS:
        try:
            return datetime.strptime(text.strip(), form).date().isoformat()
        except ValueError:
            pass
    raise ValueError(text)


with open("people.csv", newline="") as file:
    rows = list(csv.DictReader(file))
best = {}
for row in rows:
    email = row["email"].strip().lower()
    if "@" not in email:
        continue
    name = " ".join(row["name"].split()).title()
    new = {"name": name, "email": email, "joined": date(row["joined"])}
    if email not in best or new["joined"] < best[email]["joined"]:
        best[email] = new
with open("people_clean.csv", "w", newline="") as file:
    writer = csv.DictWriter(file, ["name", "email", "joined"])
    writer.writeheader()
    writer.writerows(best[email] for email in sorted(best))
"""

DONE = call("finish", message="Cleaned.")
RIGHT = [call("read_file", path="people.csv"), call("run_code", code=CODE), DONE]
# Of several rows it keeps whichever comes last.
WRONG = [
    call("run_code", code=CODE.replace('or new["joined"] < best[email]["joined"]', "or True")),
    DONE,
]
