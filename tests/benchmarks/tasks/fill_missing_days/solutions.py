"""What a model would do, rightly and wrongly."""

from model_server.script import call

CODE = """
import pandas

load = pandas.read_csv("load.csv", parse_dates=["day"]).set_index("day").sort_index()["load"]
load = load.asfreq("D").interpolate()
table = pandas.DataFrame({"load": load, "mean": load.rolling(3, min_periods=1).mean()})
table.to_csv("filled.csv", float_format="%.2f", date_format="%Y-%m-%d")
table
"""

DONE = call("finish", message="Filled.")
RIGHT = [call("run_code", code=CODE), DONE]
# The gap takes the value before it.
WRONG = [call("run_code", code=CODE.replace("interpolate", "ffill")), DONE]
