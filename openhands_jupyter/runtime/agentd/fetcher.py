"""Fetches what is at an address: a program of its own, which may take any time.

It goes where the environment's proxy leads and no other way, follows no more than `REDIRECTS`
redirects, and only to addresses that it would take itself. It sends nothing that it is not told:
no cookies, no password. Nothing of what a server wrote is in its errors.

The standard input has the request: see `Web.fetch`. The standard output gets one line of JSON,
then the bytes.
"""

from __future__ import annotations

import http.client
import json
import re
import socket
import string
import sys
import time
import zlib
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit, urlunsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

REDIRECTS = 5
CHUNK = 65536
HEADERS = {
    "User-Agent": "OpenHands-Jupyter (fetch)",
    "Accept": "text/html,application/xhtml+xml,text/*;q=0.9,application/json;q=0.9,*/*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
}
_TYPE = re.compile(r"[\w.+-]+/[\w.+-]+")
_CHARSET = re.compile(r"[\w.:+-]{1,40}")


class Failed(Exception):
    """It was not fetched; a code and a sentence."""


def fetch(url: str, limit: int, seconds: float) -> tuple[dict[str, Any], bytes]:
    """What is at an address, and the bytes of it.

    Raises
    ------
    Failed
        When nothing was fetched.
    """
    deadline = time.monotonic() + seconds
    request = Request(checked(url), headers=HEADERS)
    try:
        try:
            answer = _opener().open(request, timeout=seconds)
        except HTTPError as error:
            if 300 <= error.code < 400 and error.code != 304:
                raise Failed("not_reached", "The page leads on and on, or nowhere.") from None
            # Its page says what is wrong.
            answer = error
        with answer:
            encoding = answer.headers.get("Content-Encoding", "").strip().lower()
            body, cut = _at_most(_decoded(_read(answer, deadline), encoding), limit)
            head = {
                "url": answer.url,
                "status": answer.status,
                "media_type": _first(_TYPE, answer.headers.get_content_type()),
                "charset": _first(_CHARSET, answer.headers.get_content_charset() or ""),
                "cut": cut,
            }
            return head, body
    except (OSError, http.client.HTTPException, zlib.error, ValueError) as error:
        raise _explained(error) from None


def checked(url: str) -> str:
    """An address as it is asked for.

    Raises
    ------
    Failed
        When it is none of a page on the web, or has a password in it.
    """
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
        host = (parts.hostname or "").encode("idna").decode()
    except ValueError:
        raise Failed("bad_url", "This is no address.") from None
    if parts.scheme not in ("http", "https") or not host:
        raise Failed("bad_url", "Only addresses with http:// or https:// are fetched.")
    if "@" in parts.netloc:
        raise Failed("bad_url", "Addresses with a user or a password are not fetched.")
    place = f"[{host}]{port}" if ":" in host else host + port
    return urlunsplit((parts.scheme, place, _quoted(parts.path) or "/", _quoted(parts.query), ""))


class _Redirects(HTTPRedirectHandler):
    max_redirections = REDIRECTS

    def redirect_request(
        self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        return super().redirect_request(req, fp, code, msg, headers, checked(newurl))


def _opener() -> OpenerDirector:
    """One that knows the web alone: no files, no FTP, no passwords."""
    opener = OpenerDirector()
    for handler in (
        ProxyHandler(),
        HTTPHandler(),
        HTTPSHandler(),
        HTTPDefaultErrorHandler(),
        _Redirects(),
        HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    opener.addheaders = []
    return opener


def _quoted(text: str) -> str:
    return quote(text, safe=string.punctuation)


def _read(answer: Any, deadline: float) -> Iterator[bytes]:
    while data := answer.read1(CHUNK):
        yield data
        if time.monotonic() > deadline:
            raise TimeoutError


def _decoded(pieces: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """The pieces without their encoding, never much at a time, whatever they swell to."""
    if encoding not in ("gzip", "x-gzip", "deflate"):
        yield from pieces
        return
    # 32 and more finds out by itself which of both it is.
    inflater = zlib.decompressobj(zlib.MAX_WBITS | 32)
    for piece in pieces:
        while piece:
            yield inflater.decompress(piece, CHUNK)
            piece = inflater.unconsumed_tail


def _at_most(pieces: Iterator[bytes], limit: int) -> tuple[bytes, bool]:
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > limit:
            return bytes(body[:limit]), True
    return bytes(body), False


def _first(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.match(text)
    return found[0] if found else ""


def _explained(error: Exception) -> Failed:
    reason = error.reason if isinstance(error, URLError) else error
    if isinstance(reason, TimeoutError):
        return Failed("fetch_timeout", "")
    if isinstance(reason, socket.gaierror):
        return Failed("not_reached", "The host was not found; there may be no network.")
    if (certificate := getattr(reason, "verify_message", None)) is not None:
        return Failed("not_reached", f"The host's certificate is not accepted: {certificate}.")
    tunnel = re.match(r"Tunnel connection failed: (\d{3})", str(reason))
    if tunnel:
        return Failed("not_reached", f"The network's proxy does not lead there ({tunnel[1]}).")
    what = getattr(reason, "strerror", None) or type(reason).__name__
    return Failed("not_reached", f"The host was not reached, or gave no proper answer ({what}).")


def main() -> None:
    """Answer the one request."""
    try:
        head, body = fetch(**json.load(sys.stdin))
    except Failed as failed:
        code, message = failed.args
        head, body = {"error": code, "message": message}, b""
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + body)
