"""Pictures among the outputs of cells: by hash and in words, never as characters of base64."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ...events import Masker, ShownImage
from ...events.blobs import BlobStore
from ..cells import joined

_SVG = "image/svg+xml"
MEDIA_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp", _SVG)
"""Of pictures that a model can be shown, the best first."""

_PLOTLY = "application/vnd.plotly.v1+json"
_VEGA = re.compile(r"application/vnd\.vega(lite)?\.v\d+(\.\d+)*\+json")
_ALT = 200
"""Characters of a picture's description."""

LARGEST = 20_000_000
"""Bytes of a picture that is kept for a model."""


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """An image that a cell displayed.

    Attributes
    ----------
    handle
        Of the output that it is.
    sha256
        Of its bytes, which is also the name of its blob.
    media_type, size
        Size is in bytes.
    width, height
        In pixels; None where they are not known.
    alt
        What it shows, as far as the output says it.
    content
        Its bytes.
    """

    handle: str
    sha256: str
    media_type: str
    size: int
    width: int | None = None
    height: int | None = None
    alt: str = ""
    content: bytes = b""

    def text(self) -> str:
        """The line that stands for it in a text."""
        pixels = f" {self.width}x{self.height}" if self.width else ""
        said = f": {self.alt}" if self.alt else ""
        return (
            f"[{self.media_type}{pixels}, {self.size:,} bytes, sha256 {self.sha256[:12]}, "
            f"{self.handle}{said}]"
        )


def picture_of(data: Mapping[str, Any], metadata: Mapping[str, Any], handle: str) -> Picture | None:
    """The image of a mime bundle, if it holds one."""
    for mime in MEDIA_TYPES:
        text = joined(data.get(mime))
        if not text:
            continue
        content = text.encode(errors="replace") if mime == _SVG else _decoded(text)
        if content is None:
            continue
        width, height = _pixels(mime, content)
        return Picture(
            handle=handle,
            sha256=hashlib.sha256(content).hexdigest(),
            media_type=mime,
            size=len(content),
            width=width,
            height=height,
            alt=_alt(data, metadata.get(mime)),
            content=content,
        )
    return None


def keep_pictures(
    pictures: Sequence[Picture], blobs: BlobStore, masker: Masker
) -> list[ShownImage]:
    """What an event holds of pictures, so that models can be shown them, also later. Takes time.

    Parameters
    ----------
    pictures
        As they came with a text.
    blobs
        Those of the session.
    masker
        Knows the secrets: an SVG is text.

    Raises
    ------
    OSError
        When they cannot be written.
    """
    images = []
    for picture in pictures:
        content = picture.content
        if len(content) > LARGEST:
            continue
        if picture.media_type == _SVG:
            content = masker.text(content.decode()).encode()
        blob = blobs.put(content, picture.media_type)
        images.append(ShownImage(handle=picture.handle, blob=blob))
    return images


def chart_of(data: Mapping[str, Any]) -> str:
    """What a chart that browsers draw shows, in words; empty if the bundle holds none."""
    for mime, spec in data.items():
        if isinstance(spec, dict) and (mime == _PLOTLY or _VEGA.fullmatch(mime)):
            name = "plotly" if mime == _PLOTLY else "vega"
            words = list(_plotly(spec) if mime == _PLOTLY else _vega(spec))
            return _line(f"{name} chart: {', '.join(words)}" if words else f"{name} chart")
    return ""


def _decoded(text: str) -> bytes | None:
    try:
        return base64.b64decode(text.encode(), validate=False)
    except (binascii.Error, ValueError):
        return None


def _pixels(mime: str, content: bytes) -> tuple[int | None, int | None]:
    """Width and height where they stand at a fixed place (PNG 11.2.2, GIF89a 18)."""
    if mime == "image/png" and content[12:16] == b"IHDR":
        return int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")
    if mime == "image/gif" and content[:3] == b"GIF":
        return int.from_bytes(content[6:8], "little"), int.from_bytes(content[8:10], "little")
    return None, None


def _alt(data: Mapping[str, Any], metadata: Any) -> str:
    said = metadata.get("alt") if isinstance(metadata, dict) else None
    if isinstance(said, str) and said:
        return _line(said)
    return chart_of(data) or _line(joined(data.get("text/plain")))


def _plotly(spec: dict[str, Any]) -> Iterator[str]:
    traces = spec.get("data")
    traces = traces if isinstance(traces, list) else []
    kinds = [str(t.get("type", "scatter")) for t in traces if isinstance(t, dict)]
    if kinds:
        number = f"{len(kinds)} {'trace' if len(kinds) == 1 else 'traces'}"
        yield f"{number} ({', '.join(dict.fromkeys(kinds))})"
    layout = spec.get("layout")
    for name, part in layout.items() if isinstance(layout, dict) else ():
        axis = re.fullmatch(r"[xyz]axis\d*", name)
        title = part.get("title") if axis and isinstance(part, dict) else part
        if axis or name == "title":
            title = title.get("text") if isinstance(title, dict) else title
            if isinstance(title, str) and title:
                yield f"{name} {title!r}"


def _vega(spec: dict[str, Any]) -> Iterator[str]:
    title = spec.get("title")
    title = title.get("text") if isinstance(title, dict) else title
    if isinstance(title, str):
        yield f"title {title!r}"
    mark = spec.get("mark")
    mark = mark.get("type") if isinstance(mark, dict) else mark
    if isinstance(mark, str):
        yield f"mark {mark}"
    encoding = spec.get("encoding")
    for channel, part in encoding.items() if isinstance(encoding, dict) else ():
        if isinstance(part, dict) and isinstance(part.get("field"), str):
            yield f"{channel} {part['field']!r}"


def _line(text: str) -> str:
    line = " ".join(text[: 4 * _ALT].split())
    return line if len(line) <= _ALT else f"{line[: _ALT - 1]}…"
