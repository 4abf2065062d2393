"""Text from outside (programs, files, pages) as it is shown to a person or a model."""

from __future__ import annotations

import re

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


def without_escapes(text: str) -> str:
    """`text` without the escape sequences that colour it or move the cursor (ECMA-48)."""
    return _ESCAPES.sub("", text)


def as_data(text: str) -> str:
    """Text fenced, so that a model takes it for data, whatever it says; empty if it is blank."""
    text = without_escapes(text)
    if not text.strip():
        return ""
    text = text.replace("</output>", "<\\/output>")
    return f"<output>\n{text.rstrip()}\n</output>\n"
