"""Running the attacks: each column in a process of its own, kept from the rest of the machine.

Columns run side by side, as attacks wait more than they compute.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from docker_image import DaemonUnavailable, docker_daemon, load_image
from public_python import NoPublicPython, make_public_python

import openhands_jupyter
from openhands_jupyter.runtime.agentd import landlock

from .catalogue import COLUMNS, Column

TIMEOUT = 600
AT_ONCE = 4
USER = 61234
"""Nobody's but the attacks'; the first of one for each column, as some limits are a user's."""

PACKAGES = ["docker", "ipykernel", "jupyter_server", "msgspec", "tree-sitter", "tree-sitter-bash"]
LANDLOCK = 6
"""The version of Landlock from which on it holds signals and abstract sockets."""

_OF_ITS_OWN = (
    *("unshare", "--pid", "--fork", "--kill-child", "--mount-proc"),
    *("--mount", "--propagation", "private"),
)


class CannotRun(Exception):
    """A column cannot be run here, and why."""


class Attacker:
    """Runs columns, each once; `attacker` makes one.

    Parameters
    ----------
    folder
        Where everything is kept; everybody can enter it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._one_bomb = folder / "one-bomb"
        self._one_bomb.touch()
        self._python: Path | None = None
        self._docker = docker_daemon()
        self._image = self._host = ""
        self._threads = ThreadPoolExecutor(AT_ONCE)
        self._answers: dict[Column, Future[dict[str, Any]]] = {}

    def begin(self, columns: Iterable[Column]) -> None:
        """Run columns in the background; `run` gives what came of each."""
        # Those first that take longest.
        for column in sorted(columns, key=lambda column: column.isolation != "docker"):
            try:
                prepared = self._prepared(column)
            except CannotRun as reason:
                refused = self._answers[column] = Future()
                refused.set_exception(reason)
            else:
                self._answers[column] = self._threads.submit(self._executed, column, *prepared)

    def run(self, column: Column) -> dict[str, Any]:
        """What came of each attack.

        Returns
        -------
        dict
            ``results`` by the name of the attack, with ``worked``, ``told`` and ``detail``;
            ``groups``, whether there are control groups; ``level`` and ``backend``.

        Raises
        ------
        CannotRun
            When something that it needs is not here.
        """
        if column not in self._answers:
            self.begin([column])
        return self._answers[column].result()

    def close(self) -> None:
        """Wait for what runs, and end the Docker daemon, if it is ours."""
        self._threads.shutdown(cancel_futures=True)
        if self._host:
            self._docker.__exit__(None, None, None)

    def _prepared(self, column: Column) -> tuple[list[str], dict[str, str]]:
        """The command that runs it, and its environment."""
        root = os.geteuid() == 0
        if column.jupyter != "user" and not root:
            raise CannotRun("needs root")
        if column.isolation == "bubblewrap" and shutil.which("bwrap") is None:
            raise CannotRun("needs bubblewrap")
        if column.isolation == "landlock" and landlock.abi() < LANDLOCK:
            raise CannotRun(f"needs a kernel with Landlock {LANDLOCK}")
        if column.isolation == "docker":
            self._need_docker(column)
        python = self._python_for_all() if root else Path(sys.executable)
        base = self._folder / str(column)
        base.mkdir()
        user = USER + COLUMNS.index(column) if column in COLUMNS else USER + len(COLUMNS)
        owner = os.geteuid() if column.jupyter == "root" or not root else user
        if column.jupyter == "user" and root:
            os.chown(base, user, user)
        specification = base / "specification"
        specification.write_text(
            json.dumps(
                {
                    "isolation": column.isolation,
                    "base": str(base),
                    "owner": owner,
                    "image": self._image,
                    "results": str(base / "results"),
                    "one_bomb": str(self._one_bomb),
                    "own_process_namespace": root,
                }
            )
        )
        sockets = base / "run"
        sockets.mkdir(mode=0o700)
        if column.jupyter == "user" and root:
            os.chown(sockets, user, user)
        code = self._code()
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(base / "home"),
            "LANG": "C.UTF-8",
            "DOCKER_HOST": self._host,
            "PYTHONPATH": str(code),
            "PYTHONDONTWRITEBYTECODE": "1",
            "SOME_API_KEY": f"c4n4ry-{secrets.token_hex(16)}",
            "XDG_RUNTIME_DIR": str(sockets),
        }
        command = [
            *(_OF_ITS_OWN if root else ()),
            *(_as_user(user, column) if root and column.jupyter == "user" else ()),
            *(str(python), "-m", "sandbox.attacks.column", str(specification)),
        ]
        return command, environment

    def _executed(
        self, column: Column, command: list[str], environment: dict[str, str]
    ) -> dict[str, Any]:
        log = self._folder / f"{column}.log"
        with log.open("wb") as output:
            subprocess.run(
                command,
                env=environment,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                timeout=TIMEOUT,
                check=False,
            )
        results = self._folder / str(column) / "results"
        if not results.exists():
            raise AssertionError(f"{column} did not end well: {log.read_text()[-5000:]}")
        answer: dict[str, Any] = json.loads(results.read_text())
        return answer

    def _need_docker(self, column: Column) -> None:
        if not self._host:
            try:
                self._host = self._docker.__enter__()
            except DaemonUnavailable as error:
                raise CannotRun(str(error)) from error
            self._image = load_image(self._host)
        socket = os.stat(self._host.removeprefix("unix://"))
        if column.jupyter == "user" and os.geteuid() == 0 and socket.st_gid != 0:
            raise CannotRun("needs a daemon that root's group may use")

    def _python_for_all(self) -> Path:
        if self._python is None:
            try:
                self._python = make_public_python(self._folder / "python", PACKAGES)
            except NoPublicPython as error:
                raise CannotRun(str(error)) from error
        return self._python

    def _code(self) -> Path:
        """A copy of the package and of the attacks, as their parents may be closed to others."""
        code = self._folder / "code"
        if not code.exists():
            package = Path(openhands_jupyter.__file__).parent
            leave_out = shutil.ignore_patterns("labextension", "__pycache__")
            shutil.copytree(package, code / package.name, ignore=leave_out)
            shutil.copytree(Path(__file__).parent, code / "sandbox" / "attacks", ignore=leave_out)
        return code


def _as_user(user: int, column: Column) -> list[str]:
    # Root's group is the one that the tests' own daemon may be used by.
    groups = ["--groups", "0"] if column.isolation == "docker" else ["--clear-groups"]
    return ["setpriv", "--reuid", str(user), "--regid", str(user), *groups, "--"]


@contextmanager
def attacker() -> Iterator[Attacker]:
    """One that leaves nothing."""
    # Not below TMPDIR, where the paths of sockets could become too long.
    folder = Path(tempfile.mkdtemp(prefix="ohj-a-", dir="/tmp"))
    folder.chmod(0o755)
    running = Attacker(folder)
    try:
        yield running
    finally:
        try:
            running.close()
        finally:
            shutil.rmtree(folder)
