"""A session as one file: as it is on the log, or as a notebook and what nbconvert makes of that."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec
from traitlets.config import Config

from ..events import (
    Action,
    AgentMessageAction,
    Blob,
    CmdOutputObservation,
    CmdRunAction,
    Event,
    FinishAction,
    IPythonOutputObservation,
    IPythonRunCellAction,
    Output,
    UserMessageAction,
)
from ..events.blobs import BlobStore
from ..events.reading import LOG_FILE, read_log
from ..events.shown import without_escapes
from ..session.info import SessionInfo, read_info
from .terminal import Terminal
from .timeline import Timeline

Format = Literal["jsonl", "markdown", "notebook", "html"]
FORMATS: tuple[Format, ...] = get_args(Format)

_FENCE = "~~~~~~"


def export(folder: Path, format: Format) -> bytes:
    """A session in this format. Blocks.

    Parameters
    ----------
    folder
        The session's folder.
    format
        ``jsonl`` is the log as it is. In all others the agent's cells and commands are cells with
        their outputs, and what else happened is told between them.

    Raises
    ------
    OSError, msgspec.DecodeError
        When the session cannot be read.
    """
    if format == "jsonl":
        return (folder / LOG_FILE).read_bytes()
    notebook = _Notebook(read_info(folder), BlobStore(folder / "blobs")).of(read_log(folder))
    return _written(notebook, format).encode()


def _written(notebook: dict[str, Any], format: Format) -> str:
    text = msgspec.json.format(msgspec.json.encode(notebook)).decode() + "\n"
    if format == "notebook":
        return text
    # Not at the top: both take long to load.
    import nbformat
    from nbconvert.exporters import HTMLExporter, MarkdownExporter, TemplateExporter

    exporter: TemplateExporter
    if format == "html":
        # What outputs and models wrote runs no scripts.
        exporter = HTMLExporter(sanitize_html=True)  # type: ignore[no-untyped-call]
    else:
        # Images would be files beside this one.
        priority = ["text/markdown", "text/plain"]
        settings = Config({"NbConvertBase": {"display_data_priority": priority}})
        exporter = MarkdownExporter(config=settings)  # type: ignore[no-untyped-call]
    read = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
    written, _ = exporter.from_notebook_node(read)
    return written


class _Notebook:
    """Makes a notebook of a session's events."""

    def __init__(self, info: SessionInfo, blobs: BlobStore) -> None:
        self._info = info
        self._blobs = blobs
        self._cells: list[dict[str, Any]] = []
        self._open: dict[int, dict[str, Any]] = {}
        self._told = io.StringIO()
        self._timeline = Timeline(Terminal(io.StringIO(), self._told))

    def of(self, events: Iterator[Event]) -> dict[str, Any]:
        """The notebook, in nbformat 4.5."""
        info = self._info
        self._say(
            f"# {_harmless(info.title or 'A session of OpenHands')}\n\n"
            f"Session {info.id} of {info.created:%Y-%m-%d %H:%M} UTC; "
            f"model {_harmless(info.model)}."
        )
        for event in events:
            self._add(event)
        self._end_telling()
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        return {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
            "cells": self._cells,
        }

    def _add(self, event: Event) -> None:
        match event:
            case UserMessageAction():
                self._say(f"**You:** {_harmless(event.content)}")
            case AgentMessageAction(content=text) | FinishAction(message=text):
                self._say(f"**Agent:** {_harmless(text)}")
            case IPythonRunCellAction():
                self._code(event, event.code)
            case CmdRunAction(is_input=False) if event.command:
                self._code(event, f"%%bash\n{event.command}")
            case IPythonOutputObservation(cause=int(cause)) if cause in self._open:
                self._open.pop(cause)["outputs"] = [
                    self._output(output) for output in event.outputs
                ]
            case CmdOutputObservation(cause=int(cause)) if cause in self._open:
                self._open.pop(cause)["outputs"] = [self._stream("stdout", event.content)]
            case _:
                self._timeline.show(event)

    def _say(self, text: str) -> None:
        self._end_telling()
        self._cell("markdown", text)

    def _code(self, action: Action, source: str) -> None:
        self._end_telling()
        if action.thought:
            self._say(_harmless(action.thought))
        self._open[action.id] = self._cell("code", source, execution_count=None, outputs=[])

    def _cell(self, kind: str, source: str, **more: Any) -> dict[str, Any]:
        id = f"cell-{len(self._cells)}"
        cell = {"id": id, "cell_type": kind, "metadata": {}, "source": source, **more}
        self._cells.append(cell)
        return cell

    def _end_telling(self) -> None:
        """Put what was told since the last cell into one of its own."""
        told = self._told.getvalue().rstrip()
        self._told.seek(0)
        self._told.truncate()
        if told:
            self._say(f"{_FENCE} text\n{told.replace(_FENCE, '')}\n{_FENCE}")

    def _output(self, output: Output) -> dict[str, Any]:
        match output.kind:
            case "stream":
                return self._stream(output.name, output.text)
            case "error":
                lines = self._text(output.text).splitlines()
                error = {"ename": output.ename, "evalue": output.evalue, "traceback": lines}
                return {"output_type": "error", **error}
            case "execute_result":
                more: dict[str, Any] = {"execution_count": None}
            case _:
                more = {}
        data = {media: self._data(media, value) for media, value in output.data.items()}
        return {"output_type": output.kind, "data": data, "metadata": output.metadata, **more}

    def _stream(self, name: str, text: str | Blob) -> dict[str, Any]:
        return {"output_type": "stream", "name": name, "text": self._text(text)}

    def _text(self, text: str | Blob) -> str:
        return self._blobs.get(text.sha256).decode() if isinstance(text, Blob) else text

    def _data(self, media_type: str, value: Any) -> Any:
        if not isinstance(value, Blob):
            return value
        content = self._blobs.get(value.sha256)
        is_text = media_type.startswith("text/") or media_type == "image/svg+xml"
        return content.decode() if is_text else base64.b64encode(content).decode()


def _harmless(text: str) -> str:
    """Text for Markdown, in which no HTML works and no image is loaded."""
    return without_escapes(text).replace("<", "&lt;").replace("![", "!\\[")
