"""What a model would do, rightly and wrongly."""

from model_server.script import call

READ = call("nb_read", path="model.ipynb")
DONE = call("finish", message="Repaired.")


def _edit(factor: str):
    return call(
        "nb_edit",
        path="model.ipynb",
        ops=[
            {"op": "insert", "after": "data", "type": "code", "source": f"factor = {factor}"},
            # It was run before the values were filtered.
            {"op": "move", "id": "scale", "after": "data"},
        ],
    )


RIGHT = [READ, _edit("2.5"), DONE]
WRONG = [READ, _edit("3"), DONE]
