"""Payloads too large or too binary for a line of the log."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections import deque
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import msgspec

from .actions import ConfirmationAction
from .codec import to_json, well_formed
from .event import Action, Blob, Event
from .masking import Masker, text_fields
from .running import Output

LIMIT = 64 * 1024
"""Characters of text that an event may hold itself."""
PREVIEW = 4000
"""Characters of a blob's text that the event shows."""
MAX_DEPTH = 64
"""Levels of JSON that an event may hold itself; reading deeper ones back takes too much stack."""

_SHA256 = re.compile(r"[0-9a-f]{64}")

E = TypeVar("E", bound=Event)


def cut(text: str, limit: int) -> str:
    """`text`, or its head and tail with the cut said between them."""
    if len(text) <= limit:
        return text
    half = limit // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n[… {left_out:,} characters left out …]\n{text[-half:]}"


class BlobStore:
    """Content by its hash, a file each.

    Parameters
    ----------
    folder
        Made when the first blob is written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._unsynced: deque[Path] = deque()

    def put(self, content: bytes, media_type: str, preview: str = "") -> Blob:
        """Keep `content`; the same content is kept once. May be called on any thread.

        Raises
        ------
        OSError
            When it cannot be written.
        """
        digest = hashlib.sha256(content).hexdigest()
        path = self._folder / digest
        # A file that the system lost part of in a crash is written again.
        if not (path.exists() and path.stat().st_size == len(content)):
            self._folder.mkdir(mode=0o700, exist_ok=True)
            # Two threads may keep the same at once.
            partial = path.with_suffix(f".{uuid4().hex[:8]}.partial")
            try:
                partial.write_bytes(content)
                os.replace(partial, path)
            except OSError:
                partial.unlink(missing_ok=True)
                raise
            self._unsynced.append(path)
        return Blob(sha256=digest, media_type=media_type, size=len(content), preview=preview)

    def get(self, sha256: str) -> bytes:
        """The content with this hash.

        Raises
        ------
        FileNotFoundError
            When there is none.
        """
        if not _SHA256.fullmatch(sha256):
            raise FileNotFoundError(sha256)
        return (self._folder / sha256).read_bytes()

    def put_text(self, text: str, media_type: str = "text/plain") -> Blob:
        """Keep a text, with its head and tail as the preview."""
        return self.put(well_formed(text).encode(), media_type, cut(text, PREVIEW))

    def sync(self) -> None:
        """Have everything put so far on the disk; may be called on any thread."""
        if not self._unsynced:
            return
        while self._unsynced:
            sync_path(self._unsynced.popleft())
        sync_path(self._folder)


def sync_path(path: Path) -> None:
    """Have a file, or the names in a folder, on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Extractor:
    """Moves the large and binary payloads of an event into blobs.

    A field takes part when its type allows a `Blob`; the data and metadata of cell outputs always
    do. Every other text over the limit is cut, and the cut is said, except what is to be executed:
    that stands on the log whole, as it is what a person approves.
    """

    def __init__(self, blobs: BlobStore, masker: Masker) -> None:
        self._blobs = blobs
        self._masker = masker

    def extract(self, event: E) -> E:
        """`event` with blobs in place of its large and binary payloads.

        Raises
        ------
        OSError
            When a blob cannot be written.
        """
        extracted: E = self._struct(event)
        return extracted

    def _struct(self, item: msgspec.Struct) -> Any:
        changed: dict[str, Any] = {}
        for name in text_fields(type(item)):
            value = getattr(item, name)
            if value is None or (isinstance(value, str) and len(value) <= LIMIT):
                continue
            new = self._field(type(item), name, value)
            if new is not value:
                changed[name] = new
        return msgspec.structs.replace(item, **changed) if changed else item

    def _field(self, owner: type, name: str, value: Any) -> Any:
        match value:
            case str() if len(value) > LIMIT:
                text = self._masker.text(value)
                if name in _blob_fields(owner):
                    return self._blobs.put_text(text)
                return text if name in _executed_fields(owner) else cut(text, LIMIT)
            case msgspec.Struct():
                return value if name in _executed_fields(owner) else self._struct(value)
            case list():
                new = [self._field(owner, name, item) for item in value]
                return new if any(a is not b for a, b in zip(new, value, strict=True)) else value
            case dict() if owner is Output:
                mimes = {key: key if name == "data" else "application/json" for key in value}
                return {key: self._mime(mimes[key], content) for key, content in value.items()}
        return value

    def _mime(self, mime: str, content: Any) -> Any:
        """One entry of a mime bundle; images come as base64, as in nbformat."""
        is_svg = mime == "image/svg+xml"
        if isinstance(content, str):
            content = text = self._masker.text(content)
            image = _from_base64(text) if mime.startswith("image/") and not is_svg else None
            if image is not None:
                return self._blobs.put(image, mime)
        elif isinstance(content, (dict, list)):
            if _nested_deeper(content, MAX_DEPTH):
                text = self._masker.text(msgspec.json.encode(content).decode())
                return self._blobs.put_text(text, mime)
            text = to_json(content, self._masker)[0].decode()
        else:
            return content
        looks_like_blob = isinstance(content, dict) and content.get("type") == "Blob"
        if len(text) <= LIMIT and not is_svg and not looks_like_blob:
            return content
        return self._blobs.put_text(text, mime)


def _from_base64(text: str) -> bytes | None:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except ValueError:
        return None


def _nested_deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, (dict, list)):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_nested_deeper(one, levels - 1) for one in inner)


@cache
def _executed_fields(owner: type) -> frozenset[str]:
    # A decision may hold the person's own text for a cell, which is executed in the agent's place.
    if not issubclass(owner, Action) or not (owner.runnable or owner is ConfirmationAction):
        return frozenset()
    return frozenset(owner.__struct_fields__) - frozenset(Action.__struct_fields__)


@cache
def _blob_fields(owner: type) -> frozenset[str]:
    info = msgspec.inspect.type_info(owner)
    assert isinstance(info, msgspec.inspect.StructType)
    return frozenset(f.name for f in info.fields if _mentions_blob(f.type))


def _mentions_blob(kind: msgspec.inspect.Type) -> bool:
    if isinstance(kind, msgspec.inspect.UnionType):
        return any(_mentions_blob(t) for t in kind.types)
    return isinstance(kind, msgspec.inspect.StructType) and kind.cls is Blob
