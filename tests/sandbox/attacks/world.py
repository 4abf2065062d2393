"""What a person has outside of a sandbox: files, programs and sockets that attacks aim at.

All of it is made for the attacks, in a folder of theirs and under names of theirs.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from openhands_jupyter.runtime.agentd.selftest import start_of

BYSTANDER = "import time; time.sleep(3600)"


class World:
    """Made by the process that stands for the Jupyter server.

    Parameters
    ----------
    base
        An empty folder.
    owner
        Whose things they are: who the sandbox is run as.
    secret
        What no attack may get to see.

    Attributes
    ----------
    workspace
        The folder that the sandbox may change.
    """

    def __init__(self, base: Path, owner: int, secret: str) -> None:
        self._base = base
        self._owner = owner
        self._secret = secret
        self._mark = f"ohj-attack-{secrets.token_hex(6)}"
        self._hits: list[str] = []
        self._listeners: list[socket.socket] = []
        # As long as nobody listens.
        self._ports = {"port": 9, "site": 9}
        self.home = base / "home"
        self.workspace = base / "workspace"
        self._temporary = Path("/tmp", self._mark)
        self._shared_memory = Path("/dev/shm", self._mark)
        self._files = {
            self.home / ".ssh" / "id_ed25519": secret,
            self.home / ".bashrc": "true\n",
            self.home / ".local/share/jupyter/runtime/jpserver-1.json": secret,
            self.home / ".local/share/jupyter/runtime/kernel-1.json": secret,
            base / "outside" / "file": "old",
            self._shared_memory: secret,
        }
        self._key = self.home / ".ssh" / "id_ed25519"

    def build(self) -> None:
        """Make everything."""
        self._restore_files()
        self.make_workspace()
        self._start_bystander()
        for name, address in (
            ("another kernel's socket", str(self._base / "kernel")),
            ("Docker's socket", str(self._base / "docker.sock")),
            ("an abstract socket", "\0" + self._mark),
        ):
            self._listen(name, socket.AF_UNIX, address)
            if not address.startswith("\0"):
                self._give(Path(address))
        self._ports["port"] = self._listen("the server's port", socket.AF_INET, ("127.0.0.1", 0))
        self._ports["site"] = self._listen("", socket.AF_INET, ("127.0.0.2", 0))
        self._receive(str(self._base / "datagrams"))
        self._master, self._terminal = os.openpty()
        self._give(Path(os.ttyname(self._terminal)))

    def tell(self) -> None:
        """Put what an attacker may know, and the attacks, into the workspace."""
        folder = self.workspace / "attacks"
        shutil.copytree(Path(__file__).parent / "programs", folder)
        known = {
            "key": str(self._key),
            "token": str(self.home / ".local/share/jupyter/runtime/jpserver-1.json"),
            "connection": str(self.home / ".local/share/jupyter/runtime/kernel-1.json"),
            "home": str(self.home),
            "outside": str(self._base / "outside"),
            "shared_memory": str(self._shared_memory),
            "mark": self._mark,
            "packages": [sysconfig.get_path("purelib"), "/usr/lib/python3/dist-packages"],
            "processes": [start_of(os.getpid()), start_of(self._bystander.pid)],
            "kernel_socket": str(self._base / "kernel"),
            "docker_sockets": [*_real_docker_sockets(), str(self._base / "docker.sock")],
            "datagram_socket": str(self._base / "datagrams"),
            "terminal": [os.ttyname(self._terminal), os.fstat(self._terminal).st_dev],
            **self._ports,
        }
        (folder / "world.json").write_text(json.dumps(known))
        for path in (folder, *folder.rglob("*")):
            self._give(path)

    def damage(self) -> str:
        """What an attack has done out here, a sentence each; it is undone. Empty for nothing."""
        found = [*self._changed_files(), *self._hits]
        self._hits.clear()
        if self._temporary.exists():
            self._temporary.unlink()
            found.append("a file was left in /tmp")
        if self._bystander.poll() is not None:
            found.append("another program was killed")
            self._start_bystander()
            self._tell_again()
        return "; ".join(found)

    async def resolve(self, host: str) -> list[str]:
        """The name server of the proxy, which an attacker has a name in."""
        if host == "rebind.test":
            self._asked = not getattr(self, "_asked", False)
            return ["127.0.0.2" if self._asked else "127.0.0.1"]
        known = {"allowed.test": "127.0.0.2", "other.test": "127.0.0.2", "local.test": "127.0.0.1"}
        return [known.get(host, "169.254.169.254")]

    @property
    def allowed(self) -> list[tuple[str, int]]:
        """What the proxy allows: one site, and two names that an attacker can lead elsewhere."""
        site, port = self._ports["site"], self._ports["port"]
        return [
            ("allowed.test", site),
            ("local.test", port),
            ("rebind.test", port),
            ("metadata.test", 80),
        ]

    def close(self) -> None:
        """End and remove what is not in the base folder."""
        self._bystander.kill()
        self._bystander.wait()
        self._shared_memory.unlink(missing_ok=True)
        for listener in self._listeners:
            listener.close()

    def make_workspace(self) -> None:
        """Make just the workspace."""
        contents = {
            ".git/HEAD": "ref: refs/heads/main\n",
            ".git/config": "[core]\n\tbare = false\n",
            ".git/hooks/pre-commit": "#!/bin/sh\n",
            ".envrc": "true\n",
            ".vscode/tasks.json": "{}",
            "jupyter_server_config.py": "",
            "venv/pyvenv.cfg": "",
            "venv/bin/activate": "",
        }
        self.workspace.mkdir()
        for name, content in contents.items():
            path = self.workspace / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        for path in (self.workspace, *self.workspace.rglob("*")):
            self._give(path)

    def _start_bystander(self) -> None:
        """Another program of the person."""
        identity = {"user": self._owner, "group": self._owner, "extra_groups": []}
        self._bystander = subprocess.Popen(
            [sys.executable, "-c", BYSTANDER, f"--password={self._secret}"],
            env={"A_PASSWORD": self._secret},
            cwd="/",
            stdin=subprocess.DEVNULL,
            **(identity if os.geteuid() == 0 else {}),  # type: ignore[arg-type]
        )

    def _tell_again(self) -> None:
        shutil.rmtree(self.workspace / "attacks")
        self.tell()

    def _listen(self, name: str, family: int, address: Any) -> int:
        """Listen for who connects; without a name, for those who may."""
        listener = socket.socket(family)
        listener.bind(address)
        listener.listen()
        if family == socket.AF_UNIX and not address.startswith("\0"):
            os.chmod(address, 0o666)

        def answer() -> None:
            client, _ = listener.accept()
            with client:
                if name:
                    self._hits.append(f"{name} was reached")
                else:
                    client.recv(1000)
                    client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

        self._serve(listener, answer)
        return int(listener.getsockname()[1]) if family == socket.AF_INET else 0

    def _receive(self, path: str) -> None:
        receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        receiver.bind(path)
        os.chmod(path, 0o666)

        def answer() -> None:
            receiver.recv(10)
            self._hits.append("the datagram socket was reached")

        self._serve(receiver, answer)

    def _serve(self, listener: socket.socket, answer: Callable[[], None]) -> None:
        self._listeners.append(listener)

        def serve() -> None:
            while listener.fileno() >= 0:
                try:
                    answer()
                except ConnectionError:
                    continue
                except OSError:
                    return

        threading.Thread(target=serve, daemon=True).start()

    def _changed_files(self) -> Iterator[str]:
        for path, content in self._files.items():
            if not path.exists() or path.read_text() != content:
                yield f"{path.name} was changed"
        info = self._key.stat()
        if info.st_mode & 0o077 or info.st_mtime < 1:
            yield "permissions or times of a file were changed"
        self._restore_files()

    def _restore_files(self) -> None:
        for path, content in self._files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
            path.chmod(0o600)
            os.utime(path)
            self._give(path)
        for folder in (self.home, *self.home.rglob("*/"), self._base / "outside"):
            self._give(folder)

    def _give(self, path: Path) -> None:
        if os.geteuid() == 0:
            os.chown(path, self._owner, self._owner, follow_symlinks=False)


def _real_docker_sockets() -> list[str]:
    host = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    path = host.removeprefix("unix://")
    return [path] if os.path.exists(path) else []
