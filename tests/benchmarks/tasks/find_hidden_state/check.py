"""Run in order, it computes what is shown."""

from checking import notebook_of, require, values_of

notebook = notebook_of("model.ipynb")
ids = [cell.id for cell in notebook.cells]
require(ids[-1] == "mean", "the last cell is not the one that shows the mean")
source = notebook.cells[-1].source
require("35" not in "".join(cell.source for cell in notebook.cells), "35 is written down")
# Then once more with another value, so that it has to be computed.
again = f"(values.append(110.0), exec({source!r}), mean)[-1]"
mean, count, changed = values_of("model.ipynb", "mean", "len(values)", again)
require(mean == 35.0, f"the mean is {mean}")
require(count == 4, f"{count} values are used")
require(changed == 50.0, f"the mean does not follow the data: {changed}")
