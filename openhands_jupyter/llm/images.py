"""Images as models take them, of whatever bytes are taken for one."""

from __future__ import annotations

import base64
import logging
import subprocess
import sys
from pathlib import Path

from ..helper_process import without_secrets

_PROGRAM = Path(__file__).with_name("drawing.py")

_LONGEST_WAIT = 60.0
"""Seconds after which the drawing of an image is ended that does not get the processor."""

_log = logging.getLogger(__name__)


def data_url(content: bytes, media_type: str) -> str | None:
    """An image drawn anew (see `drawing`), as a ``data:`` URL. Takes time.

    Parameters
    ----------
    content
        The bytes; nobody has to have looked at them before.
    media_type
        PNG, JPEG, GIF, WebP or SVG.

    Returns
    -------
    str
        None where it cannot be drawn: it is damaged, too large, or takes too much to draw.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-P", str(_PROGRAM), media_type],
            input=content,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=without_secrets(),
            cwd="/",
            timeout=_LONGEST_WAIT,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        _log.warning("An image could not be drawn for the model: %s", type(error).__name__)
        return None
    drawn_type, _, drawn = done.stdout.partition(b"\n")
    if done.returncode != 0 or not drawn:
        return None
    return f"data:{drawn_type.decode()};base64,{base64.b64encode(drawn).decode()}"
