"""What a model would do, rightly and wrongly."""

from model_server.script import call

CODE = """
import csv
import json

with open("regions.csv") as file:
    regions = {row["code"].strip().upper(): row["name"].strip() for row in csv.DictReader(file)}
totals = dict.fromkeys([*regions.values(), "unknown"], 0)
with open("orders.csv") as file:
    for row in csv.DictReader(file):
        totals[regions.get(row["region_code"].strip().upper(), "unknown")] += float(row["amount"])
with open("totals.json", "w") as file:
    json.dump(totals, file)
"""

DONE = call("finish", message="Joined.")
RIGHT = [call("run_code", code=CODE), DONE]
# Codes with blanks are in no region then.
WRONG = [call("run_code", code=CODE.replace('region_code"].strip()', 'region_code"]')), DONE]
