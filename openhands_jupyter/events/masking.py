"""Secrets are replaced wherever text leaves the process: log, blobs, live text."""

from __future__ import annotations

import base64
import html
import json
import re
import shlex
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any
from urllib.parse import quote, quote_plus

import msgspec
from msgspec import inspect

MASK = "<secret_hidden>"
MIN_LENGTH = 6
"""Shorter values are not masked: they would tear ordinary text apart."""

_NOT_TEXT = ("session", "sha256")
"""Fields that are strings but refer to something: a secret torn out of them would lose it."""


class Masker:
    """Replaces every known secret, also in the spellings that programs turn it into.

    Parameters
    ----------
    secrets
        Gives the secrets known now. It is asked each time, because secrets come and go.
    """

    def __init__(self, secrets: Callable[[], Iterable[str]] = tuple) -> None:
        self._secrets = secrets
        self._known: frozenset[str] = frozenset()
        self._by_first: dict[str, list[str]] = {}
        self._longest = 0
        self._pattern: re.Pattern[str] | None = None

    def text(self, text: str) -> str:
        """`text` without secrets."""
        pattern = self._current()
        return pattern.sub(MASK, text) if pattern else text

    def value(self, value: Any) -> Any:
        """A JSON-like value or an event without secrets in any of its texts, keys included."""
        pattern = self._current()
        return map_texts(value, partial(pattern.sub, MASK)) if pattern else value

    def held_back(self, text: str) -> int:
        """How many characters at the end of `text` may be the beginning of a secret.

        Text that is still being written must not show them yet.
        """
        self._current()
        for start in range(max(len(text) - self._longest + 1, 0), len(text)):
            forms = self._by_first.get(text[start])
            if forms and any(form.startswith(text[start:]) for form in forms):
                return len(text) - start
        return 0

    def _current(self) -> re.Pattern[str] | None:
        known = frozenset(s for s in map(str.strip, self._secrets()) if len(s) >= MIN_LENGTH)
        if known != self._known:
            forms = sorted({f for s in known for f in _forms(s)}, key=len, reverse=True)
            self._longest = len(forms[0]) if forms else 0
            self._by_first = {}
            for form in forms:
                self._by_first.setdefault(form[0], []).append(form)
            # The mask itself comes first, so that no secret is found within it.
            self._pattern = re.compile("|".join(map(re.escape, [MASK, *forms]))) if known else None
            self._known = known
        return self._pattern


def map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """`value` with `change` applied to every text in it.

    That is every string of a JSON-like value, keys included, and of a struct every string that may
    be any: words out of a fixed set, times, hashes and the session's id stay as they are.
    """
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {map_texts(k, change): map_texts(v, change) for k, v in value.items()}
    if isinstance(value, list):
        return [map_texts(item, change) for item in value]
    if not isinstance(value, msgspec.Struct):
        return value
    changed: dict[str, Any] = {}
    for name in text_fields(type(value)):
        old = getattr(value, name)
        new = map_texts(old, change)
        if new is not old and new != old:
            changed[name] = new
    return msgspec.structs.replace(value, **changed) if changed else value


@cache
def text_fields(kind: type) -> tuple[str, ...]:
    """Names of a struct's fields that may hold text of any kind, directly or within."""
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    return tuple(f.name for f in info.fields if f.name not in _NOT_TEXT and _holds_text(f.type))


def _holds_text(kind: inspect.Type) -> bool:
    if isinstance(kind, inspect.UnionType):
        return any(_holds_text(one) for one in kind.types)
    containers = (inspect.ListType, inspect.DictType, inspect.StructType)
    return isinstance(kind, (inspect.StrType, inspect.AnyType, *containers))


def _forms(secret: str) -> Iterable[str]:
    """The secret as it is and as programs write it: in URLs, JSON, reprs, HTML, shell, base64.

    Base64 depends on the position within the encoded text, so each of the three alignments is
    covered by the characters that do not depend on its neighbours.
    """
    raw = secret.encode("utf-8", "surrogatepass")
    yield secret
    yield quote_plus(raw)
    for safe in ("", "/", "!'()*"):
        yield quote(raw, safe)
    for readable in (True, False):
        yield json.dumps(secret, ensure_ascii=not readable)[1:-1]
    yield repr(secret)[1:-1]
    yield repr(f"'\"{secret}")[4:-1]
    yield repr(raw)[2:-1]
    yield html.escape(secret, quote=False)
    yield html.escape(secret)
    yield html.escape(secret).replace("&#x27;", "&#39;")
    yield shlex.quote(f" {secret}")[2:-1]
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for shift in range(3):
            encoded = encode(b"\0" * shift + raw).decode().rstrip("=")
            first = -(-shift * 8 // 6)
            last = (shift + len(raw)) * 8 // 6
            if last - first >= MIN_LENGTH:
                yield encoded[first:last]
