"""What a model would do, rightly and wrongly."""

from model_server.script import call

PLOT = """
import matplotlib.pyplot as plt

figure, axes = plt.subplots()
axes.bar(list(totals), list(totals.values()))
axes.set_xlabel("Month")
axes.set_ylabel("Rain (mm)")
figure.savefig("rain.png")
"""


def _insert(source: str):
    op = {"op": "insert", "after": "totals", "type": "code", "source": source.strip()}
    return call("nb_edit", path="rain.ipynb", ops=[op])


READ = call("nb_read", path="rain.ipynb")
DONE = call("finish", message="Drawn.")
RUN = call("run_cells", path="rain.ipynb", which="all", kernel="sandbox")
BARS = "list(totals), list(totals.values())"
RIGHT = [READ, _insert(PLOT), RUN, DONE]
# In the order of the alphabet, April comes first.
WRONG = [READ, _insert(PLOT.replace(BARS, "*zip(*sorted(totals.items()))")), DONE]
