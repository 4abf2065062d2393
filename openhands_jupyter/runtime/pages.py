"""Pages of the web: fetched in the sandbox, and read in a process of its own."""

from __future__ import annotations

import asyncio
import base64
import codecs
import contextlib
import logging
import os
import sys
from pathlib import Path

import msgspec

from ..errors import OpenHandsError
from ..events import BrowserOutputObservation, BrowseURLAction, Output
from ..making import made_or_undone
from .channel import SandboxDied
from .sandbox import Sandbox
from .trouble import how_it_died

LARGEST = 5_000_000
"""Bytes that are fetched of a page."""

LARGEST_HTML = 2_000_000
"""Bytes that are read of an HTML page; it takes some seconds to read so many."""

SHOWN = 25_000
"""Characters of its text that are told at once; the agent asks for the rest."""

FETCH_SECONDS = 30.0
"""For a page to come."""

READ_SECONDS = 30.0
"""For a page to be read, on a machine that has much to do."""

_ANSWER_SECONDS = 15.0
"""Beyond those of the fetch, after which a sandbox is held to be dead."""

_PROGRAM = Path(__file__).with_name("page_reading.py")
_HTML = ("text/html", "application/xhtml+xml")
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_TEXTS = (
    "application/json",
    "application/javascript",
    "application/x-javascript",
    "application/xml",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/x-ndjson",
    "application/x-sh",
    "image/svg+xml",
)
_PASSED_ON = ("PATH", "LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH", "LANG", "LC_ALL")
"""Of the server's environment, to the process that reads: what its Python needs, no secrets."""

_OF_PAGES = ("MemoryError", "RecursionError")
"""Errors that a page may well be made for."""

_log = logging.getLogger(__name__)


class _Fetched(msgspec.Struct):
    url: str
    status: int
    media_type: str
    charset: str
    cut: bool
    body: str


class _Page(msgspec.Struct):
    title: str
    text: str


async def browse(
    sandbox: Sandbox, action: BrowseURLAction, stopping: asyncio.Event
) -> BrowserOutputObservation:
    """Fetch a page and read it.

    Parameters
    ----------
    sandbox
        Where it is fetched, so that its network decides; it is killed if it does not answer.
    action
        Which page, and which part of its text.
    stopping
        Set when somebody wants it to stop.

    Raises
    ------
    OpenHandsError
        When it was not reached, or is nothing that can be read.
    """
    fetched = await _fetch(sandbox, action.url, stopping)
    body = base64.b64decode(fetched.body)
    told = BrowserOutputObservation(
        url=fetched.url, status=fetched.status, media_type=fetched.media_type, cut=fetched.cut
    )
    if fetched.media_type in _PICTURES:
        return _picture(told, body)
    if fetched.media_type in _HTML and len(body) > LARGEST_HTML:
        told, body = msgspec.structs.replace(told, cut=True), body[:LARGEST_HTML]
    page = await _read(body, fetched, stopping)
    text, start = page.text, max(0, action.start)
    return msgspec.structs.replace(
        told,
        title=page.title,
        content=text[start : start + SHOWN],
        start=min(start, len(text)),
        total=len(text),
    )


async def _fetch(sandbox: Sandbox, url: str, stopping: asyncio.Event) -> _Fetched:
    params = {"url": url, "limit": LARGEST, "seconds": FETCH_SECONDS}
    try:
        async with asyncio.timeout(FETCH_SECONDS + _ANSWER_SECONDS):
            return msgspec.convert(await sandbox.request("web.fetch", params), _Fetched)
    except (SandboxDied, TimeoutError) as error:
        sandbox.kill()
        raise OpenHandsError(
            how_it_died(error, stopping.is_set()),
            "The sandbox ended before the page was fetched.",
            "Fetch it again.",
        ) from error


def _picture(told: BrowserOutputObservation, body: bytes) -> BrowserOutputObservation:
    if told.cut:
        raise OpenHandsError(
            "page_too_large", f"The picture has more than {LARGEST:,} bytes.", "Try a smaller one."
        )
    data = {told.media_type: base64.b64encode(body).decode()}
    picture = Output(kind="display_data", data=data)
    return msgspec.structs.replace(told, outputs=[picture])


async def _read(body: bytes, fetched: _Fetched, stopping: asyncio.Event) -> _Page:
    """The text of what was fetched."""
    kind = fetched.media_type
    if kind in _HTML:
        return await _read_html(body, fetched, stopping)
    is_text = kind.startswith("text/") or kind.endswith(("+json", "+xml")) or kind in _TEXTS
    if not is_text and b"\0" in body[:8192]:
        raise OpenHandsError(
            "not_readable",
            f"What is there is no page, text or picture: {kind or 'of no type'}.",
            "Download it with a command, if it is needed.",
        )
    return _Page(title="", text=_decoded(body, fetched.charset))


def _decoded(body: bytes, charset: str) -> str:
    try:
        codec = codecs.lookup(charset or "utf-8").name
        text = body.decode("utf-8-sig" if codec == "utf-8" else codec, "replace")
    except (LookupError, ValueError):
        text = body.decode("utf-8-sig", "replace")
    return text.replace("\r\n", "\n")


async def _read_html(body: bytes, fetched: _Fetched, stopping: asyncio.Event) -> _Page:
    making = asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        str(_PROGRAM),
        fetched.url,
        fetched.charset,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={name: os.environ[name] for name in _PASSED_ON if name in os.environ},
        cwd="/",
    )
    process = await made_or_undone(making, _end)
    stopper = asyncio.create_task(_end_when(stopping, process))
    try:
        async with asyncio.timeout(READ_SECONDS):
            output, errors = await process.communicate(body)
        _require_no_fault(errors.decode(errors="replace"))
        return msgspec.json.decode(output, type=_Page)
    except (TimeoutError, msgspec.DecodeError) as error:
        if stopping.is_set():
            raise OpenHandsError("stopped", "It was stopped while the page was read.") from error
        _log.warning("A page could not be read: %s", type(error).__name__)
        raise OpenHandsError(
            "not_readable",
            "The page is too large or too intricate to be read.",
            "Try another page, or download it with a command and look at parts of it.",
        ) from error
    finally:
        stopper.cancel()
        await _end(process)


def _require_no_fault(errors: str) -> None:
    """See to it that the program did not fail for a reason that is not the page's."""
    kind = errors.strip().rpartition("\n")[2].partition(":")[0]
    if kind and kind not in _OF_PAGES:
        _log.error("The program that reads pages failed: %s", errors[-2000:])
        raise OpenHandsError(
            "page_reader_failed",
            "The program that reads pages failed; the server's log says why.",
            "Download the page with a command and look at parts of it.",
        )


async def _end_when(stopping: asyncio.Event, process: asyncio.subprocess.Process) -> None:
    await stopping.wait()
    await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
