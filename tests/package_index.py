"""A package index behind the proxy of an institution, which alone knows the index's name."""

from __future__ import annotations

import hashlib
import http.server
import threading
import zipfile
from pathlib import Path
from typing import Self

HOST = "packages.test"
INDEX = f"http://{HOST}/simple"
INSTALL = "python -m pip install --quiet --retries 0 --target got tinywheel && cat got/tinywheel.py"
INSTALLED = "ANSWER = 42\n"


class PackageIndex:
    """Serves one tiny wheel as ``tinywheel``; a context manager.

    Attributes
    ----------
    proxy
        URL of the proxy; whatever it is asked to connect to, the index answers.
    asked
        What it was asked to connect to, as ``host:port``.
    """

    def __init__(self, folder: Path) -> None:
        write_wheel(folder / "simple" / "tinywheel")
        self.asked: list[str] = []
        asked = self.asked

        class Handler(http.server.SimpleHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def __init__(self, *arguments: object) -> None:
                super().__init__(*arguments, directory=str(folder))  # type: ignore[arg-type]

            def do_CONNECT(self) -> None:
                asked.append(self.path)
                self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
                self.close_connection = False

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.proxy = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def write_wheel(folder: Path) -> None:
    """Write a wheel and the page of the index that leads to it."""
    folder.mkdir(parents=True)
    wheel = folder / "tinywheel-1.0-py3-none-any.whl"
    files = {
        "tinywheel.py": INSTALLED,
        "tinywheel-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tinywheel\nVersion: 1.0",
        "tinywheel-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n",
    }
    record = "tinywheel-1.0.dist-info/RECORD"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        archive.writestr(record, "".join(f"{name},,\n" for name in [*files, record]))
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (folder / "index.html").write_text(f'<a href="{wheel.name}#sha256={digest}">tinywheel</a>')
