"""Images in results, from a notebook and a sandbox to the model's server, through real LiteLLM."""

from __future__ import annotations

import base64
import io
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from model_server.script import call, together
from model_server.server import ModelServer
from notebook_contract import code, notebook
from PIL import Image
from session_tools import events, until

from openhands_jupyter.events import IPythonOutputObservation, NotebookObservation

pytestmark = pytest.mark.sandbox

SEES, READS = "openai/gpt-4o", "openai/scripted"
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" width="80" height="40"><rect/></svg>'
PLOT = "from PIL import Image\nImage.new('RGB', (2000, 1000), 'red')"


def display(mime: str, content: str) -> dict[str, Any]:
    plain = {"text/plain": "<Figure>"}
    return {"output_type": "display_data", "data": {mime: content, **plain}, "metadata": {}}


def png(width: int, height: int, mode: str = "RGB") -> dict[str, Any]:
    file = io.BytesIO()
    Image.new(mode, (width, height)).save(file, "PNG")
    return display("image/png", base64.b64encode(file.getvalue()).decode())


NOTEBOOK = notebook(
    code("small", "plot()", *(png(60 + n, 50) for n in range(5))),
    code("large", "plot()", png(3000, 1500)),
    code("drawn", "plot()", display("image/svg+xml", DRAWING)),
    code("bomb", "plot()", png(30_000, 30_000, "1")),
)


def read_image(cell: str):
    return call("read_output", path="a.ipynb", handle=f"out:{cell}/0", **{"as": "image"})


def shown(messages: list[dict[str, Any]]) -> list[str | tuple[int, int]]:
    """Of all images of a prompt, what is said of each, and its size where it is there."""
    found: list[str | tuple[int, int]] = []
    for message in messages:
        parts = message["content"] if isinstance(message["content"], list) else []
        assert not parts or message["role"] == "user", "OpenAI takes images in no other"
        for part in parts[1:]:
            if part["type"] == "text":
                found.append(part["text"].strip("[]:"))
                continue
            head, _, data = part["image_url"]["url"].partition(",")
            assert head == "data:image/png;base64"
            found.append(Image.open(io.BytesIO(base64.b64decode(data))).size)
    return found


async def test_a_model_that_sees_is_shown_images_and_any_other_is_told_of_them(
    manager: Any,
    model_server: ModelServer,
    workspace: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    (workspace / "a.ipynb").write_text(json.dumps(NOTEBOOK))
    done = call("finish", message="Done.")
    model_server.play(
        call("nb_read", path="a.ipynb", cells=["small"], outputs="full"),
        together(read_image("large"), read_image("drawn")),
        read_image("bomb"),
        call("run_code", code=PLOT),
        done,
        read_image("small"),
        done,
        done,
        done,
    )
    async with manager() as sessions:
        session = await sessions.create(model=SEES)
        after = session.send_message("Look")
        after = (await until(session, "finished", after=after)).id
        after = session.send_message("Look again")
        after = (await until(session, "finished", after=after)).id
        session.change_settings(model=READS)
        after = session.send_message("Go on")
        await until(session, "finished", after=after)
        notebooks = events(session, NotebookObservation)
        (cell,) = events(session, IPythonOutputObservation)
    # Begun anew, as after a restart.
    async with manager() as sessions:
        session = await sessions.open(session.id)
        session.change_settings(model=SEES)
        after = session.send_message("Go on")
        await until(session, "finished", after=after)

    small = [(f"nb_read, out:small/{n}", (60 + n, 50)) for n in range(4)]
    one = [
        *("read_output, out:large/0", (1024, 512)),
        *("read_output, out:drawn/0", (80, 40)),
        "read_output, out:bomb/0: damaged, or too large to be shown",
        *("run_code, image 1", (1024, 512)),
    ]
    prompts = [request.body["messages"] for request in model_server.requests]
    assert shown(prompts[0]) == []
    assert shown(prompts[1]) == [part for pair in small for part in pair]
    assert shown(prompts[4]) == [*shown(prompts[1]), *one]
    for earlier, later in itertools.pairwise(prompts[:6]):
        assert later[1 : len(earlier)] == earlier[1:], "what was sent stays as it was"
    # One more would be nine: the oldest four go.
    gone = [f"{label}: no longer in view" for label, _ in small]
    assert shown(prompts[6]) == [*gone, *one, "read_output, out:small/0", (60, 50)]
    assert shown(prompts[8])[: len(shown(prompts[6]))] == shown(prompts[6])
    told = json.dumps(prompts[7])
    assert "image_url" not in told
    assert "iVBOR" not in told
    assert "[image/png 3000x1500, " in told
    assert "[image/png output (image 1), " in told

    log = next((tmp_path / "home").rglob("events.jsonl"))
    assert "iVBOR" not in log.read_text()
    assert [len(event.images) for event in notebooks] == [4, 1, 1, 1, 1]
    kept = {path.name for path in (log.parent / "blobs").iterdir()}
    assert {image.blob.sha256 for event in notebooks for image in event.images} <= kept
    assert cell.outputs[0].data["image/png"].sha256 in kept
