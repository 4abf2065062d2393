"""What a model would do, rightly and wrongly."""

from model_server.script import call

from openhands_jupyter.notebooks.revisions import rev_of

OLD = """low, high = min({0}_raw), max({0}_raw)
{0} = [(value - low) / (high - low) if high > low else 0.0 for value in {0}_raw]"""

FUNCTION = """def normalised(values):
    low, high = min(values), max(values)
    return [(value - low) / (high - low) if high > low else 0.0 for value in values]"""


def _edit(function: str):
    return call(
        "nb_edit",
        path="scores.ipynb",
        ops=[
            {"op": "insert", "after": "data", "type": "code", "source": function},
            *(
                {
                    "op": "replace",
                    "id": name,
                    "expect_rev": rev_of("code", OLD.format(name)),
                    "source": f"{name} = normalised({name}_raw)",
                }
                for name in ("north", "south", "west")
            ),
        ],
    )


READ = call("nb_read", path="scores.ipynb")
DONE = call("finish", message="Refactored.")
RIGHT = [READ, _edit(FUNCTION), DONE]
# Where all values are equal this divides by zero.
WRONG = [READ, _edit(FUNCTION.replace(" if high > low else 0.0", "")), DONE]
