"""Large and binary payloads: kept beside the log, once, whole, and never lost on the way."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from openhands_jupyter.events import (
    Blob,
    CellDecision,
    CellEdit,
    CmdOutputObservation,
    CmdRunAction,
    ConfirmationAction,
    Event,
    EventStream,
    FileEditAction,
    FileEditObservation,
    FileWriteAction,
    FileWriteObservation,
    InvalidToolCallAction,
    IPythonOutputObservation,
    IPythonRunCellAction,
    Masker,
    ModelCall,
    NotebookEditAction,
    Output,
    Risk,
    UserMessageAction,
)
from openhands_jupyter.events.blobs import LIMIT, PREVIEW, cut

LONG = "".join(f"line {number}\n" for number in range(10_000))
SECRET = "canary-9f8e7d"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 3
SVG = '<svg xmlns="http://www.w3.org/2000/svg"/>'

assert len(LONG) > LIMIT


def shown(stream: EventStream, data: dict[str, Any], **fields: Any) -> Output:
    """What a cell's output looks like when it is read back from the log."""
    output = Output(kind="display_data", data=data, **fields)
    stream.append(IPythonOutputObservation(outputs=[output]))
    event = stream.read()[-1]
    assert isinstance(event, IPythonOutputObservation)
    return event.outputs[0]


@pytest.mark.parametrize(
    ("event", "field"),
    [
        (FileWriteAction(path="x", content=LONG), "content"),
        (FileWriteObservation(path="x", created=True, content=LONG), "content"),
        (FileWriteObservation(path="x", created=True, old_content=LONG), "old_content"),
        (FileEditObservation(path="x", old_content=LONG), "old_content"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
async def test_large_text_becomes_a_blob(stream: EventStream, event: Event, field: str) -> None:
    stream.append(event)
    blob = getattr(stream.read()[0], field)
    assert blob == Blob(
        sha256=hashlib.sha256(LONG.encode()).hexdigest(),
        media_type="text/plain",
        size=len(LONG),
        preview=cut(LONG, PREVIEW),
    )
    assert stream.blobs.get(blob.sha256) == LONG.encode()


@pytest.mark.parametrize("length", [0, 1, LIMIT - 1, LIMIT])
async def test_text_up_to_the_limit_stays(stream: EventStream, folder: Path, length: int) -> None:
    stream.append(FileWriteAction(path="x", content="é" * length))
    (event,) = stream.read()
    assert isinstance(event, FileWriteAction)
    assert event.content == "é" * length
    assert not (folder / "blobs").exists()


async def test_large_stream_output_and_traceback(stream: EventStream) -> None:
    outputs = [Output(kind="stream", name="stdout", text=LONG), Output(kind="error", text=LONG)]
    stream.append(IPythonOutputObservation(outputs=outputs))
    (event,) = stream.read()
    assert isinstance(event, IPythonOutputObservation)
    for output in event.outputs:
        assert isinstance(output.text, Blob)
        assert stream.blobs.get(output.text.sha256).decode() == LONG


@pytest.mark.parametrize(
    "event",
    [
        UserMessageAction(content=LONG),
        CmdOutputObservation(content=LONG),
        InvalidToolCallAction(message="", llm=ModelCall(response_id="", arguments=LONG)),
        CmdRunAction(command="ls", thought=LONG, risk=Risk(level="low", reasons=["", LONG])),
    ],
    ids=lambda event: type(event).__name__,
)
async def test_any_other_long_text_is_cut_and_the_cut_is_said(
    stream: EventStream, event: Event
) -> None:
    stream.append(event)
    (line,) = stream.read_raw()
    half = LIMIT // 2
    said = f"\n[… {len(LONG) - LIMIT:,} characters left out …]\n"
    expected = LONG[:half] + said + LONG[-half:]
    assert json.dumps(expected, ensure_ascii=False).encode() in line
    assert len(line) < LIMIT * 3


@pytest.mark.parametrize(
    "action",
    [
        CmdRunAction(command=LONG),
        IPythonRunCellAction(code=LONG),
        FileEditAction(path="x", command="str_replace", old_str=LONG, new_str=LONG),
        NotebookEditAction(path="x", operations=[{"op": "insert", "source": LONG}]),
        NotebookEditAction(
            path="x",
            operations=[],
            cells=[CellEdit(id="a", what="inserted", cell_type="code", after=LONG)],
        ),
        ConfirmationAction(
            decision="approve", cells=[CellDecision(id="a", decision="approve", source=LONG)]
        ),
    ],
    ids=lambda action: type(action).__name__,
)
async def test_what_is_to_be_executed_is_never_cut(stream: EventStream, action: Event) -> None:
    stream.append(action)
    assert json.dumps(LONG).encode() in stream.read_raw()[0]


async def test_images_are_kept_as_their_bytes(stream: EventStream) -> None:
    wrapped = base64.encodebytes(PNG).decode()
    assert "\n" in wrapped.strip()
    output = shown(stream, {"image/png": wrapped, "image/jpeg": "", "image/svg+xml": SVG})
    assert stream.blobs.get(output.data["image/png"].sha256) == PNG
    assert output.data["image/png"].size == len(PNG)
    assert output.data["image/jpeg"].size == 0
    assert stream.blobs.get(output.data["image/svg+xml"].sha256) == SVG.encode()
    assert output.data["image/svg+xml"].preview == SVG


@pytest.mark.parametrize("wrong", ["no base64!", "AAA", "Ünicode", "iVBORw0KGgo=x"])
async def test_invalid_image_does_not_lose_the_event(stream: EventStream, wrong: str) -> None:
    data = {"image/png": wrong, "text/plain": "<Figure>"}
    assert shown(stream, data).data == data


@pytest.mark.parametrize(
    "content",
    [None, True, 0, -1.5, 10**30, [], {}, ["a", {"b": [None]}], {"é\u2028": "\0\x1b[0m"}, ""],
    ids=repr,
)
async def test_small_content_of_any_kind_comes_back(stream: EventStream, content: Any) -> None:
    data = {"application/json": content, "text/html": "<b>x</b>"}
    assert shown(stream, data, metadata=data).data == data


@pytest.mark.parametrize("mime", ["text/html", "application/json", "application/geo+json"])
async def test_large_rich_output_becomes_a_blob(stream: EventStream, mime: str) -> None:
    content: Any = LONG if mime.startswith("text") else {"lines": LONG.splitlines()}
    blob = shown(stream, {mime: content}).data[mime]
    assert blob.media_type == mime
    kept = stream.blobs.get(blob.sha256).decode()
    assert (kept if mime.startswith("text") else json.loads(kept)) == content


async def test_large_metadata_becomes_a_blob_too(stream: EventStream) -> None:
    metadata = {"image/png": "AAAA", "application/x-plot": {"points": [1.5] * 50_000}}
    output = shown(stream, {"text/plain": "x"}, metadata=metadata)
    assert output.metadata["image/png"] == "AAAA"
    blob = output.metadata["application/x-plot"]
    assert json.loads(stream.blobs.get(blob.sha256)) == metadata["application/x-plot"]


async def test_deeply_nested_json_is_kept_as_text(stream: EventStream) -> None:
    text = "[" * 900 + "]" * 900
    blob = shown(stream, {"application/json": json.loads(text)}).data["application/json"]
    assert stream.blobs.get(blob.sha256).decode() == text


async def test_content_that_pretends_to_be_a_blob_is_not_one(stream: EventStream) -> None:
    claim = {"type": "Blob", "sha256": "../../x", "media_type": "text/html", "size": 1}
    blob = shown(stream, {"application/json": claim}).data["application/json"]
    assert blob.media_type == "application/json"
    assert json.loads(stream.blobs.get(blob.sha256)) == claim


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a\0b\x1b[31m\r\n\u2028é", "a\0b\x1b[31m\r\n\u2028é"),
        ("lone \udce9 and \ud83d", "lone � and �"),
        ("pair \ud83d\ude00", "pair 😀"),
    ],
    ids=["control", "lone surrogates", "surrogate pair"],
)
@pytest.mark.parametrize("size", [1, LIMIT], ids=["short", "long"])
async def test_text_that_utf8_cannot_say(
    open_stream: Callable[..., EventStream], text: str, kept: str, size: int
) -> None:
    stream = open_stream(Masker(lambda: [SECRET]))
    stream.append(FileWriteAction(path=text, content=text * size))
    output = shown(stream, {"text/plain": text, "application/json": {text: text * size}})
    written = stream.read()[0]
    assert isinstance(written, FileWriteAction)
    assert written.path == output.data["text/plain"] == kept
    content, data = written.content, output.data["application/json"]
    if size > 1:
        assert isinstance(content, Blob)
        content = stream.blobs.get(content.sha256).decode()
        data = json.loads(stream.blobs.get(data.sha256))
    assert content == kept * size
    assert data == {kept: kept * size}


async def test_blobs_hold_no_secret(open_stream: Callable[..., EventStream], folder: Path) -> None:
    stream = open_stream(Masker(lambda: [SECRET]))
    stream.append(FileWriteAction(path="x", content=LONG + SECRET + LONG))
    data = {
        "text/html": f"<b>{SECRET}</b>" + LONG,
        "image/svg+xml": f"<svg>{SECRET}</svg>",
        "image/png": base64.b64encode(f"text in an image: {SECRET}".encode()).decode(),
        "application/json": {SECRET: [SECRET, LONG]},
        "application/x+json": json.loads("[" * 100 + f'"{SECRET}"' + "]" * 100),
    }
    shown(stream, data, metadata=data)
    files = list((folder / "blobs").iterdir())
    assert len(files) == 5
    for path in [*files, folder / "events.jsonl"]:
        assert SECRET.encode() not in path.read_bytes()
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name or path not in files


async def test_same_content_is_kept_once(stream: EventStream, folder: Path) -> None:
    for _ in range(3):
        stream.append(FileWriteAction(path="x", content=LONG))
    (path,) = (folder / "blobs").iterdir()
    assert path.read_bytes() == LONG.encode()


async def test_blob_that_a_crash_left_short_is_written_again(
    stream: EventStream, folder: Path
) -> None:
    stream.append(FileWriteAction(path="x", content=LONG))
    (path,) = (folder / "blobs").iterdir()
    path.write_bytes(b"")
    stream.append(FileWriteAction(path="x", content=LONG))
    assert path.read_bytes() == LONG.encode()


@pytest.mark.parametrize(
    "name",
    ["", "..", "../events.jsonl", "/etc/passwd", "a" * 63, "A" * 64, "a" * 64 + "\n", "g" * 64],
)
async def test_get_refuses_odd_names(stream: EventStream, name: str) -> None:
    stream.append(FileWriteAction(path="x", content=LONG))
    with pytest.raises(FileNotFoundError):
        stream.blobs.get(name)
