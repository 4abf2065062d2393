"""What servers send, cut to what can be kept and shown; used in the MCP process only."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator
from typing import Any

import mcp_types as types

from .protocol import FoundTool, Part
from .schemas import plain_schema

TOOLS = 200
DESCRIPTION = 1000
"""Characters; providers take 1024."""

PARTS = 100
TEXT = 2_000_000
"""Characters of all texts of a result; more is left out in the middle."""

IMAGES = 10
IMAGE_BYTES = 10_000_000
IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")

_MAGIC = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}


def found_tools(tools: Iterable[types.Tool]) -> list[FoundTool]:
    """The tools of a listing, in their order; of those with the same name the first."""
    found: dict[str, FoundTool] = {}
    for tool in tools:
        if tool.name and tool.name not in found:
            found[tool.name] = _found(tool)
    return list(found.values())[:TOOLS]


def _found(tool: types.Tool) -> FoundTool:
    claims = tool.annotations or types.ToolAnnotations()
    return FoundTool(
        name=tool.name[:200],
        title=_line(tool.title or claims.title or "", 100),
        description=(tool.description or "").strip()[:DESCRIPTION],
        schema=plain_schema(tool.input_schema),
        read_only=claims.read_only_hint,
        destructive=claims.destructive_hint,
        idempotent=claims.idempotent_hint,
        open_world=claims.open_world_hint,
    )


def parts_of(result: types.CallToolResult) -> list[Part]:
    """What a tool answered, by kind, and what of it was left out."""
    parts: list[Part] = []
    room, images = TEXT, 0
    content = list(result.content)
    for one in content[:PARTS]:
        for part in _parts(one):
            if part.kind == "image":
                images += 1
                if images > IMAGES:
                    continue
            text = _cut(part.text, max(room, 1000))
            room -= len(text)
            parts.append(
                Part(
                    kind=part.kind,
                    text=text,
                    data=part.data,
                    media_type=part.media_type,
                    uri=part.uri,
                )
            )
    if not content and result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False, indent=1)
        parts.append(Part(kind="text", text=_cut(text, TEXT), media_type="application/json"))
    if len(content) > PARTS:
        parts.append(_notice(f"{len(content) - PARTS} more parts were left out."))
    if images > IMAGES:
        parts.append(_notice(f"{images - IMAGES} more images were left out."))
    return parts


def _parts(content: Any) -> Iterator[Part]:
    match content:
        case types.TextContent(text=text):
            yield Part(kind="text", text=text)
        case types.ImageContent(data=data, mime_type=mime):
            yield _image(data, mime)
        case types.AudioContent(data=data, mime_type=mime):
            yield _notice(f"Audio ({_line(mime, 80)}, {len(data) * 3 // 4:,} bytes) is not kept.")
        case types.EmbeddedResource(resource=types.TextResourceContents() as resource):
            yield Part(
                kind="resource",
                text=resource.text,
                uri=_line(str(resource.uri), 1000),
                media_type=_line(resource.mime_type or "", 80),
            )
        case types.EmbeddedResource(resource=types.BlobResourceContents() as resource):
            mime, uri = resource.mime_type or "", _line(str(resource.uri), 1000)
            if mime in IMAGE_TYPES:
                part = _image(resource.blob, mime)
                yield Part(
                    kind=part.kind,
                    text=part.text,
                    data=part.data,
                    media_type=part.media_type,
                    uri=uri,
                )
            else:
                size = len(resource.blob) * 3 // 4
                yield _notice(
                    f"Binary resource {uri} ({_line(mime, 80)}, {size:,} bytes) is not kept."
                )
        case types.ResourceLink():
            told = filter(None, [content.title or content.name, content.description])
            yield Part(
                kind="resource",
                text=": ".join(told),
                uri=_line(str(content.uri), 1000),
                media_type=_line(content.mime_type or "", 80),
            )
        case _:
            yield _notice(f"Content of the kind {type(content).__name__} is not known.")


def _image(data: str, mime: str) -> Part:
    try:
        content = base64.b64decode(data, validate=False)
    except (binascii.Error, ValueError):
        return _notice("An image could not be read.")
    mime = mime.lower().split(";")[0].strip()
    if mime not in _MAGIC or not content.startswith(_MAGIC[mime]):
        return _notice(f"An image of the type {_line(mime, 80)} is not kept.")
    if len(content) > IMAGE_BYTES:
        return _notice(f"An image of {len(content):,} bytes was left out.")
    return Part(kind="image", data=base64.b64encode(content).decode(), media_type=mime)


def _notice(text: str) -> Part:
    return Part(kind="notice", text=text)


def _line(text: str, length: int) -> str:
    return " ".join(text[: length * 2].split())[:length]


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters left out …]\n{text[-half:]}"
