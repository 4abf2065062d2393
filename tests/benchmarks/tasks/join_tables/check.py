"""Each region has its total."""

from checking import json_of, require

wanted = {"North": 350.5, "South": 99.0, "Islands": 0, "unknown": 12.25}
totals = json_of("totals.json")
require(isinstance(totals, dict), "totals.json holds no object")
require(set(totals) == set(wanted), f"the regions are {sorted(totals)}")
for region, amount in wanted.items():
    require(round(totals[region], 2) == amount, f"{region} has {totals[region]}, not {amount}")
