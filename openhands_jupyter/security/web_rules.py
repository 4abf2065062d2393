"""How risky it is to fetch a page."""

from __future__ import annotations

from urllib.parse import urlsplit

from .scene import Scene


def check_fetch(scene: Scene, url: str) -> None:
    """Judge it as ``curl`` of the same address: what is asked for is told to who is asked."""
    try:
        host = urlsplit(url).hostname or url
    except ValueError:
        host = url
    scene.network(host)
