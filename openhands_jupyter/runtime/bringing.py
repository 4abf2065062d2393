"""Brings files of the server's into a sandbox, wherever that is."""

from __future__ import annotations

import asyncio
import base64

import msgspec

from ..errors import OpenHandsError
from .channel import SandboxDied
from .sandbox import Sandbox

PIECE = 3_000_000
"""Bytes of one request: a remote server takes no message of 10 MB."""

LONGEST_PATH = 4_096


class _Brought(msgspec.Struct):
    path: str


async def bring(sandbox: Sandbox, name: str, content: bytes, seconds: float) -> str:
    """Write a file into the sandbox's own temporary folder.

    Parameters
    ----------
    sandbox
        Where; it is killed if it does not answer in time, or not as it should.
    name
        What the file is called.
    content
        What it holds.
    seconds
        How long it may take.

    Returns
    -------
    str
        Its path inside, as the sandbox tells it.

    Raises
    ------
    OpenHandsError
        When it cannot be written.
    """
    path = ""
    try:
        async with asyncio.timeout(seconds):
            for start in range(0, max(len(content), 1), PIECE):
                piece = base64.b64encode(content[start : start + PIECE]).decode()
                asked = {"path": path, "name": name, "content": piece}
                path = msgspec.convert(await sandbox.request("file.bring", asked), _Brought).path
        if not path.isprintable() or len(path) > LONGEST_PATH:
            raise ValueError(path)
    except (SandboxDied, TimeoutError, ValueError) as error:
        sandbox.kill()
        raise OpenHandsError(
            "sandbox_died", "The sandbox ended before the file was in it.", "Try it again."
        ) from error
    return path
