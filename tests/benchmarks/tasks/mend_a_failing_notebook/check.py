"""The notebook runs, gives the total, and what did not need a change has none."""

from checking import notebook_of, printed_by, require, require_unchanged, run_notebook

SHA = "5af83fdbb19ad677"

require_unchanged("sales.csv", SHA)
notebook = notebook_of("sales.ipynb")
sources = {cell.id: cell.source for cell in notebook.cells}
require(list(sources) == ["title", "load", "amount", "total"], "cells came, went or moved")
require(sources["title"] == "# Sales of the first quarter", "the title was changed")
require(sources["load"].startswith("import csv"), "the cell that loads the table was changed")
printed = printed_by(run_notebook("sales.ipynb").cells[-2])
require("1366.50" in printed, f"the total is not 1366.50: {printed}")
require("1366" not in sources["total"], "the total is written down, not computed")
