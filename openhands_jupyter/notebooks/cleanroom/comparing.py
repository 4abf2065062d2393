"""What a cell put out as a text that is alike whenever the cell did the same.

What differs by itself from run to run is left out: execution counts, memory addresses, UUIDs and
ids that libraries make up, the files that ipykernel gives cells, measured times, how printed text
and displays follow each other, and tracebacks (not the error). Pictures stand there by a hash.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..cells import joined
from ..showing.pictures import picture_of
from ..showing.screen import settled

_SVG = "image/svg+xml"
_WIDGET = "application/vnd.jupyter.widget-view+json"
_DIGITS = 16
_MOST_PIXELS = 256_000_000
"""Bytes of a picture that are compared, so that none can fill the memory."""

# Each takes time that grows with the length of the text alone, whatever a cell prints.
_VARYING = [
    (re.compile(r"\b0x[0-9a-fA-F]{6,16}\b"), "0x…"),
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "<uuid>"),
    (re.compile(r"\baltair-viz-[0-9a-f]{32}\b"), "altair-viz-…"),
    # The ids of pandas' styled tables.
    (re.compile(r"\bT_[0-9a-f]{5}(?=\b|_)"), "T_…"),
    (re.compile(r"(?<![^\s\"'<>])[^\s\"'<>]*ipykernel_\d+/\d+\.py"), "<cell>"),
    (re.compile(r"^(CPU times|Wall time): .*", re.MULTILINE), r"\1: …"),
    (re.compile(r"^.{0,40} ± .{0,40} per loop \(mean ± .*", re.MULTILINE), "… per loop"),
    # How long a progress bar took, and how fast.
    (re.compile(r"\[\d+:[\d:]+<[\d:?]+, [^\]\n]*\]"), "[…]"),
    (re.compile(r"(?<![ \t])[ \t]+$", re.MULTILINE), ""),
]
_SVG_METADATA = re.compile(r"<metadata>(?:(?!<metadata>).)*?</metadata>", re.DOTALL)
_SVG_ID = re.compile(r"\bid=\"([^\"]+)\"")


def comparable(outputs: Sequence[Mapping[str, Any]], names: Mapping[str, str] | None = None) -> str:
    """The outputs of a cell, of nbformat, in a form that can be compared and shown as a diff.

    Parameters
    ----------
    outputs
        As a notebook has them.
    names
        Texts to replace by others, such as the place of a folder.
    """
    printed = {"stdout": "", "stderr": ""}
    parts: list[str] = []
    for output in outputs:
        kind = output.get("output_type")
        if kind == "stream":
            name = "stderr" if output.get("name") == "stderr" else "stdout"
            printed[name] += joined(output.get("text"))
        elif kind == "error":
            parts.append(f"{output.get('ename', '')}: {output.get('evalue', '')}")
        elif kind in ("display_data", "execute_result"):
            parts += _bundle(output.get("data") or {})
    if printed["stderr"]:
        parts.insert(0, f"[stderr]\n{printed['stderr']}")
    parts.insert(0, printed["stdout"])
    return "\n".join(filter(None, (_plain(part, names or {}) for part in parts)))


def _bundle(data: Mapping[str, Any]) -> Iterator[str]:
    for mime in sorted(data):
        content = data[mime]
        if mime == _WIDGET:
            # Its state is not in the output, and its id is another one each time.
            yield f"[{mime}]"
        elif mime.startswith("image/"):
            yield _picture(mime, joined(content))
        elif mime == "text/plain":
            yield joined(content)
        elif isinstance(content, (str, list)) and not mime.endswith("json"):
            yield f"[{mime}]\n{joined(content)}"
        else:
            yield f"[{mime}]\n{json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False)}"


def _plain(text: str, names: Mapping[str, str]) -> str:
    text = settled(text)
    for name, other in names.items():
        text = text.replace(name, other)
    for pattern, instead in _VARYING:
        text = pattern.sub(instead, text)
    return text.strip("\n")


def _picture(mime: str, text: str) -> str:
    picture = picture_of({mime: text}, {}, "")
    pixels = f" {picture.width}x{picture.height}" if picture and picture.width else ""
    if mime == _SVG:
        content = _svg(text).encode(errors="replace")
    else:
        content = picture.content if picture else text.encode(errors="replace")
    if mime == "image/png":
        content = _pixels_of_png(content)
    return f"[{mime}{pixels}, {hashlib.sha256(content).hexdigest()[:_DIGITS]}]"


def _svg(text: str) -> str:
    """Without dates, and with the ids that programs made up counted instead."""
    text = _SVG_METADATA.sub("", text)
    ids = {id: f"id-{number}" for number, id in enumerate(dict.fromkeys(_SVG_ID.findall(text)))}
    if not ids:
        return text
    longest_first = sorted(map(re.escape, ids), key=len, reverse=True)
    known = re.compile(rf"(?<=[\"#])(?:{'|'.join(longest_first)})(?=[\")])")
    return known.sub(lambda found: ids[found[0]], text)


def _pixels_of_png(content: bytes) -> bytes:
    """What of a PNG makes its pixels (PNG 11.2): not who wrote it, when, and how well packed."""
    kept, packed, at = b"", b"", 8
    while at + 8 <= len(content):
        length, kind = int.from_bytes(content[at : at + 4], "big"), content[at + 4 : at + 8]
        chunk = content[at + 8 : at + 8 + length]
        if kind == b"IDAT":
            packed += chunk
        elif kind in (b"IHDR", b"PLTE", b"tRNS"):
            kept += chunk
        at += 12 + length
    unpacking = zlib.decompressobj()
    try:
        pixels = unpacking.decompress(packed, _MOST_PIXELS)
    except zlib.error:
        return content
    return kept + pixels + unpacking.unconsumed_tail if kept and pixels else content
