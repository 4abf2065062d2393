"""Run tests as an ordinary user: ``python tests/ordinary_user.py [ARGUMENT OF PYTEST ...]``.

For root, who is the user in most containers that run tests. What a sandbox can do, and what holds,
is different for others. It needs a Python of the system, see `public_python`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from public_python import NoPublicPython, make_public_python

USER = 65534
ROOT = Path(__file__).resolve().parents[1]
PACKAGES = [
    "hypothesis",
    "jupyter-kernel-gateway",
    "matplotlib",
    "openhands-jupyter",
    "pandas",
    "pip",
    "playwright",
    "psutil",
    "pytest",
    "pytest-jupyter",
    "pytest-timeout",
]


def main() -> int:
    """Run pytest; its exit code."""
    if os.geteuid() != 0:
        print("You are an ordinary user: run pytest itself.")
        return 2
    with tempfile.TemporaryDirectory(prefix="ohj-user-", dir="/tmp") as folder:
        base = Path(folder)
        base.chmod(0o755)
        try:
            python = make_public_python(base / "python", PACKAGES)
        except NoPublicPython as reason:
            print(f"Not run as an ordinary user: it {reason}.")
            # CI runs where it can be had.
            return 1 if os.environ.get("CI") else 0
        own = base / "own"
        own.mkdir()
        os.chown(own, USER, USER)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(own),
            "TMPDIR": str(own),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [str(python), "-m", "pytest", "--basetemp", str(own / "tests")]
        command += [*_cache(sys.argv[1:]), *sys.argv[1:]]
        run = subprocess.run(
            command, cwd=ROOT, env=environment, user=USER, group=USER, extra_groups=[]
        )
        return run.returncode


def _cache(arguments: list[str]) -> list[str]:
    """Let the user write to pytest's cache, if there is to be one (``-o cache_dir=FOLDER``)."""
    for argument in arguments:
        option, _, folder = argument.partition("=")
        if option == "cache_dir":
            Path(folder).mkdir(exist_ok=True)
            os.chown(folder, USER, USER)
            return []
    return ["-p", "no:cacheprovider"]


if __name__ == "__main__":
    sys.exit(main())
