"""What a model would do, rightly and wrongly."""

from model_server.script import call

CODE = """
import csv
from collections import Counter
from datetime import UTC, datetime

hours = Counter()
for line in open("service.log"):
    if line[:1].isspace():
        continue
    time, level, _ = line.split(" ", 2)
    if level == "ERROR":
        hours[datetime.fromisoformat(time).astimezone(UTC).strftime("%Y-%m-%dT%H:00Z")] += 1
with open("errors.csv", "w", newline="") as file:
    csv.writer(file).writerows([("hour", "errors"), *sorted(hours.items())])
"""

LOOK = call("execute_bash", command="head -3 service.log")
DONE = call("finish", message="Counted.")
RIGHT = [LOOK, call("run_code", code=CODE), DONE]
# Hours as they stand in the log.
WRONG = [LOOK, call("run_code", code=CODE.replace(".astimezone(UTC)", "")), DONE]
