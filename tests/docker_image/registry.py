"""A registry with one image, on the loopback interface, which Docker takes without encryption.

It speaks as much as a pull needs of the "HTTP API V2" of the distribution project.
"""

from __future__ import annotations

import gzip
import hashlib
import http.server
import io
import json
import os
import select
import socket
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager

NAME = "tiny/image"
_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
_CONFIG = "application/vnd.docker.container.image.v1+json"
_LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"
_UNKNOWN = b'{"errors": [{"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}]}'
_CHUNK = 65536


class Registry:
    """What is asked of it, and how it answers.

    Attributes
    ----------
    host
        Its address, as in the name of an image.
    hold
        Set, as long as layers are sent without a stop; cleared, they stop in the middle.
    gone
        Set when the client hung up in the middle of a layer.
    """

    def __init__(self, layer_bytes: int) -> None:
        self.host = ""
        self.hold = threading.Event()
        self.hold.set()
        self.gone = threading.Event()
        plain = io.BytesIO()
        with tarfile.open(fileobj=plain, mode="w") as tar:
            file = tarfile.TarInfo("data")
            file.size = layer_bytes
            tar.addfile(file, io.BytesIO(os.urandom(layer_bytes)))
        layer = gzip.compress(plain.getvalue(), 1)
        rootfs = {"type": "layers", "diff_ids": [_digest(plain.getvalue())]}
        config = json.dumps(
            {
                "architecture": "amd64",
                "os": "linux",
                "config": {},
                "rootfs": rootfs,
                "history": [{}],
            }
        ).encode()
        manifest = {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": {"mediaType": _CONFIG, "size": len(config), "digest": _digest(config)},
            "layers": [{"mediaType": _LAYER, "size": len(layer), "digest": _digest(layer)}],
        }
        self.manifest = json.dumps(manifest).encode()
        self.blobs = {_digest(config): config, _digest(layer): layer}


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _hung_up(connection: socket.socket) -> bool:
    readable, _, _ = select.select([connection], [], [], 0)
    return bool(readable) and connection.recv(1, socket.MSG_PEEK) == b""


@contextmanager
def registry(layer_bytes: int = 3_000_000) -> Iterator[Registry]:
    """A registry that answers."""
    served = Registry(layer_bytes)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def _answer(self, with_body: bool) -> None:
            kind, _, reference = self.path.removeprefix(f"/v2/{NAME}/").partition("/")
            content, media_type = b"", "application/json"
            if kind == "manifests" and reference in ("latest", _digest(served.manifest)):
                content, media_type = served.manifest, _MANIFEST
            elif kind == "blobs":
                content, media_type = served.blobs[reference], "application/octet-stream"
            elif self.path != "/v2/":
                content = _UNKNOWN
            known = content is not _UNKNOWN
            self.send_response(200 if known else 404)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Docker-Content-Digest", _digest(content))
            self.end_headers()
            if with_body:
                self._send(content)

        def _send(self, content: bytes) -> None:
            try:
                for start in range(0, len(content), _CHUNK):
                    while start > len(content) // 2 and not served.hold.wait(0.05):
                        if _hung_up(self.connection):
                            raise ConnectionError
                    self.wfile.write(content[start : start + _CHUNK])
            except ConnectionError:
                served.gone.set()
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.host = f"127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield served
    finally:
        served.hold.set()
        server.shutdown()
        thread.join()
        server.server_close()
