"""Quantities with units."""

import re

METRES = {"mm": 0.001, "cm": 0.01, "m": 1.0, "km": 1000.0, "mi": 1609.344}


def parse(text):
    """The number and the unit of a text such as "3 km"."""
    found = re.fullmatch(r"(\d+\.?\d*)\s*(\S+)", text.strip())
    if not found:
        raise ValueError(f"{text!r} is no quantity")
    return float(found[1]), found[2]


def convert(value, source, target):
    """A value in another unit."""
    if (source, target) == ("°C", "°F"):
        return value * 1.8 + 32
    if (source, target) == ("°F", "°C"):
        return value * 9 / 5 + 32
    return value * METRES[source] / METRES[target]
