"""The notebook runs and says what the table says."""

from checking import notebook_of, printed_by, require, run_notebook

notebook = notebook_of("report.ipynb")
cells = notebook.cells
require(cells, "report.ipynb has no cells")
require(cells[0].cell_type == "markdown", "the first cell is not Markdown")
require(cells[0].source.lstrip().startswith("#"), "the first cell is no heading")
require(cells[-1].cell_type == "markdown", "the last cell is not Markdown")
require("docs" in cells[-1].source, "the last cell does not name the page that people stay on")
printed = "\n".join(printed_by(cell) for cell in run_notebook("report.ipynb").cells[1:-1])
wanted = ["home: 4 visits, 10.0 s", "docs: 3 visits, 42.5 s", "blog: 1 visits, 7.0 s"]
places = [printed.find(line) for line in wanted]
for line, place in zip(wanted, places, strict=True):
    require(place >= 0, f"this line is missing: {line}")
require(places == sorted(places), "the most visited page does not come first")
