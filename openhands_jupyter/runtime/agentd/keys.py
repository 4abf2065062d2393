"""What is typed into a running program: lines of text, and keys by their names."""

from __future__ import annotations

KEYS = {
    **{f"C-{chr(96 + code)}": bytes([code]) for code in range(1, 27)},
    "C-\\": b"\x1c",
    "Enter": b"\r",
    "Tab": b"\t",
    "Escape": b"\x1b",
    "Backspace": b"\x7f",
    "Up": b"\x1b[A",
    "Down": b"\x1b[B",
    "Right": b"\x1b[C",
    "Left": b"\x1b[D",
}
"""What a terminal sends for a key: ASCII's control characters, and the sequences of a VT100."""


def typed(text: str) -> bytes:
    """What a terminal sends for a key's name, or else for lines of text, the last one finished."""
    if text in KEYS:
        return KEYS[text]
    # The key for a new line sends a carriage return.
    line = text[:-1] if text.endswith("\n") else text
    return line.replace("\n", "\r").encode("utf-8", "surrogateescape") + b"\r"
