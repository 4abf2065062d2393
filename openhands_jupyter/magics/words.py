"""What the verbs answer, as text."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence
from typing import Any

SHOWN = (
    *("model", "mode", "isolation", "network", "python", "requirements"),
    *("step_limit", "timeout", "memory_limit", "disk_limit"),
)
"""Settings that are shown; the rest is in the panel."""


def status(info: dict[str, Any]) -> str:
    """How a session is."""
    lines = [
        _headline(info),
        f"{'model':>10}  {info['model']}",
        f"{'mode':>10}  {info['mode']}",
        f"{'steps':>10}  {info['steps']} of {info['step_limit']}",
        f"{'workspace':>10}  {info['workspace']}",
    ]
    if info.get("isolation"):
        lines.append(f"{'sandbox':>10}  {info['isolation']['summary']}")
    if info["state"] == "awaiting_user_confirmation":
        lines.append("A step waits for your approval, in the cell or in the OpenHands panel.")
    return _inert("\n".join(lines))


def sessions(infos: Sequence[dict[str, Any]], current: str | None) -> str:
    """All sessions, one a line."""
    if not infos:
        return "There is no session yet."
    marks = ("*" if info["id"] == current else " " for info in infos)
    lines = (f"{mark} {_headline(info)}" for mark, info in zip(marks, infos, strict=True))
    return _inert("\n".join(lines))


def undone(event: dict[str, Any]) -> str:
    """What came of an undo."""
    if event["type"] == "ErrorObservation":
        return _inert(f"{event['message']} {event.get('hint') or ''}".rstrip())
    count = (event.get("restored") or 0) + (event.get("removed") or 0)
    kept = [*(event.get("conflicts") or []), *(event.get("failed") or [])]
    notebooks = event.get("notebooks") or []
    lines = []
    if count or not notebooks:
        lines.append(f"{count} {'file is' if count == 1 else 'files are'} as before the last turn.")
    lines += [f"Left as it is: {entry['path']} ({entry['reason']})" for entry in kept]
    lines += [line for notebook in notebooks for line in _notebook(notebook)]
    return _inert("\n".join(lines))


def _notebook(notebook: dict[str, Any]) -> list[str]:
    path, cells = notebook["path"], len(notebook.get("cells") or [])
    if notebook.get("problem"):
        return [f"Left as it is: {path} ({notebook['problem']})"]
    lines = [f"{cells} {'cell' if cells == 1 else 'cells'} of {path} as before the last turn."]
    left = notebook.get("left") or []
    return lines + [f"Left as it is: cell {cell['id']} ({cell['why']})" for cell in left]


def models(known: Sequence[dict[str, Any]], current: str | None) -> str:
    """The models there are."""
    lines = [
        f"{'*' if model['name'] == current else ' '} {model['name']}"
        + ("" if model["ready"] else f"  ({model['hint']})")
        for model in known
    ]
    return _inert("\n".join(lines))


def config(settings: dict[str, dict[str, Any]]) -> str:
    """The settings in force."""
    lines = [
        f"{name:>14}  {_value(settings[name]['value'])}  ({settings[name]['origin']}"
        f"{', locked' if settings[name]['locked'] else ''})"
        for name in SHOWN
        if name in settings
    ]
    lines.append("To change them, open the settings in the OpenHands panel.")
    return _inert("\n".join(lines))


def log(events: Sequence[dict[str, Any]]) -> str:
    """Events as the command line prints them."""
    from ..cli.terminal import Terminal
    from ..cli.timeline import Timeline
    from ..events.codec import decode

    sink = io.StringIO()
    timeline = Timeline(Terminal(sys.stdin, sink))
    for event in events:
        timeline.show(decode(json.dumps(event).encode()))
    return sink.getvalue().rstrip("\n")


def _headline(info: dict[str, Any]) -> str:
    title = info["title"] or "Untitled"
    return f"{info['id']}  {info['state'].replace('_', ' ')}: {title}"


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value in (None, "") else str(value)


def _inert(text: str) -> str:
    from ..cli.terminal import inert

    return inert(text)
