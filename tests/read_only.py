"""A folder that truly cannot be written to, whoever runs the tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def read_only(folder: Path, texts: dict[str, str] | None = None) -> Iterator[Path]:
    """Make `folder` read-only: with its mode, or with a mount for root, whom modes do not stop.

    Parameters
    ----------
    folder
        It is made if need be.
    texts
        Files to be in there, by name.
    """
    folder.mkdir(exist_ok=True)
    if os.geteuid() != 0:
        for name, text in (texts or {}).items():
            (folder / name).write_text(text)
            (folder / name).chmod(0o400)
        folder.chmod(0o500)
        yield folder
        folder.chmod(0o700)
        return
    mount = ["mount", "-t", "tmpfs", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("root without the right to mount cannot have a read-only folder")
    try:
        for name, text in (texts or {}).items():
            (folder / name).write_text(text)
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        yield folder
    finally:
        # Lazily: who looks into it at this moment, such as a watcher of files, is soon done.
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
