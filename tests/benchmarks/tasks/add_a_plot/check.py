"""The figure that is saved has the bars and labels that were asked for."""

from pathlib import Path

from checking import json_of, notebook_of, require, run_notebook

WATCH = """
import json as _json
import matplotlib as _matplotlib

_matplotlib.use("agg")
from matplotlib.figure import Figure as _Figure

_saved = _Figure.savefig


def _told(figure, *arguments, **options):
    _saved(figure, *arguments, **options)
    axes = figure.axes[0]
    facts = {
        "heights": [patch.get_height() for patch in axes.patches],
        "places": [patch.get_x() for patch in axes.patches],
        "ticks": [label.get_text() for label in axes.get_xticklabels()],
        "labels": [axes.get_xlabel(), axes.get_ylabel()],
    }
    with open("figure.json", "w") as file:
        _json.dump(facts, file, default=float)


_Figure.savefig = _told
"""

notebook = notebook_of("rain.ipynb")
ids = [cell.id for cell in notebook.cells]
require(ids[:3] == ["title", "load", "totals"] and len(ids) > 3, f"the cells are {ids}")
Path("rain.png").unlink(missing_ok=True)
run_notebook("rain.ipynb", WATCH)
require(Path("rain.png").is_file(), "running the notebook saves no rain.png")
require(Path("rain.png").read_bytes()[:4] == b"\x89PNG", "rain.png is no PNG")
facts = json_of("figure.json")
require(facts["labels"] == ["Month", "Rain (mm)"], f"the axes say {facts['labels']}")
bars = [height for _, height in sorted(zip(facts["places"], facts["heights"], strict=True))]
require([round(bar, 1) for bar in bars] == [61.5, 20.0, 33.5, 80.5], f"the bars are {bars}")
