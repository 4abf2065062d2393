"""One function, used three times, and the same results."""

import ast

from checking import notebook_of, require, values_of

notebook = notebook_of("scores.ipynb")
ids = [cell.id for cell in notebook.cells]
kept = ["data", "north", "south", "west", "result"]
require([name for name in ids if name in kept] == kept, f"the cells are {ids}")
code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
tree = ast.parse("\n".join(code))
defined = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
require([node.name for node in defined] == ["normalised"], "there is no one function normalised")
uses = [
    node
    for node in ast.walk(tree)
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "normalised"
]
require(len(uses) >= 3, "normalised is not used three times")
require("\n".join(code).count("min(") == 1, "the calculation is still repeated")
north, south, west, best = values_of("scores.ipynb", "north", "south", "west", "best")
require(north == [0.0, 0.5, 1.0, 0.25], f"north is {north}")
require(south == [1.0, 0.0, 0.5], f"south is {south}")
require(west == [0.0, 0.0, 0.0], f"west is {west}")
require(best == "north", f"best is {best}")
