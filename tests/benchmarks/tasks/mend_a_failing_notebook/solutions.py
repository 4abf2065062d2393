"""What a model would do, rightly and wrongly."""

from model_server.script import call

from openhands_jupyter.notebooks.revisions import rev_of

OLD = """for row in rows:
    row["amount"] = float(row["price"]) * int(row["count"])"""

READ = call("nb_read", path="sales.ipynb")
DONE = call("finish", message="Mended.")


def _edit(old: str, new: str):
    op = {"op": "patch", "id": "amount", "expect_rev": rev_of("code", OLD), "old": old, "new": new}
    return call("nb_edit", path="sales.ipynb", ops=[op])


RIGHT = [
    READ,
    call("execute_bash", command="head -2 sales.csv"),
    _edit(
        'float(row["price"]) * int(row["count"])',
        'float(row["unit_price"]) * int(row["quantity"])',
    ),
    DONE,
]
WRONG = [
    READ,
    # It runs, but each price counts once only.
    _edit('float(row["price"]) * int(row["count"])', 'float(row["unit_price"])'),
    DONE,
]
