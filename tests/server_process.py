"""A Jupyter server with the extension in a process of its own, to be killed and started again."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from api_client import Answer, answer_of
from model_server import ModelServer
from server_extensions import only
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from waiting import PATIENCE, wait_until

KEY = "sk-canary-restart-0123"
TOKEN = "a-token-of-this-test"
KERNELSPEC = Path(__file__).parents[1] / "kernelspec"


class Server:
    """A Jupyter server with the extension, over folders that outlive it."""

    def __init__(self, folder: Path, model: ModelServer, base_url: str = "/") -> None:
        self._base_url = base_url
        self.root = folder / "work here"
        self.home = folder / "openhands-home"
        self.log = folder / "server.log"
        self.runtime = folder / "runtime"
        config = folder / "config"
        config.mkdir()
        self.root.mkdir()
        shutil.copytree(KERNELSPEC, folder / "data" / "kernels" / "openhands-sandbox")
        extensions = {"ServerApp": {"jpserver_extensions": only("openhands_jupyter")}}
        (config / "jupyter_server_config.json").write_text(json.dumps(extensions))
        self._environ = {
            **os.environ,
            "JUPYTER_CONFIG_DIR": str(config),
            "JUPYTER_DATA_DIR": str(folder / "data"),
            "JUPYTER_RUNTIME_DIR": str(self.runtime),
            "JUPYTER_TOKEN": TOKEN,
            "OPENHANDS_HOME": str(self.home),
            "LLM_MODEL": "openai/scripted",
            "LLM_BASE_URL": model.url,
            "LLM_API_KEY": KEY,
        }

    async def start(self) -> None:
        """Start it, on a new port, and wait until it answers."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self._address = f"http://127.0.0.1:{port}{self._base_url}"
        base_url = f"--ServerApp.base_url={self._base_url}"
        self._launch(f"--port={port}", "--ServerApp.port_retries=0", "--allow-root", base_url)

        async def answers() -> bool:
            try:
                return (await self.send("GET", "health")).status == 200
            except (OSError, HTTPClientError):
                return False

        await wait_until(answers)

    def _launch(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "jupyter_server", f"--ServerApp.root_dir={self.root}"]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, *arguments], env=self._environ, stdout=log, stderr=log
            )

    async def send(
        self, method: str, path: str, body: Any = None, api: str = "openhands/api/"
    ) -> Answer:
        """Send a request, to ours or another of the server's APIs."""
        request = HTTPRequest(
            self._address + api + path,
            method,
            headers={"Authorization": f"token {TOKEN}"},
            body=None if body is None else json.dumps(body),
            allow_nonstandard_methods=True,
            request_timeout=PATIENCE,
        )
        return answer_of(await AsyncHTTPClient().fetch(request, raise_error=False))

    async def events(self, session_id: str) -> list[dict[str, Any]]:
        """All events of a session."""
        answer = await self.send("GET", f"sessions/{session_id}/events?limit=1000")
        events: list[dict[str, Any]] = answer.body["events"]
        return events

    def end(self) -> None:
        """End it as a person does."""
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(PATIENCE)
