"""The folder that sessions, settings and secrets are kept in, closed to other users."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from ..errors import OpenHandsError

HOME_NAME = ".openhands"


class HomeNotWritable(OpenHandsError):
    """The folder for sessions and settings cannot be made or written to."""

    status = 503

    def __init__(self, home: Path, error: OSError | None = None) -> None:
        why = f": {error.strerror}" if error and error.strerror else ""
        super().__init__(
            "home_not_writable",
            f"The folder {home} cannot be written to{why}.",
            "Make it writable, or set OPENHANDS_HOME to a folder that is, and restart the server.",
        )


class Home:
    """OpenHands' own folder: ``OPENHANDS_HOME``, else ``~/.openhands``.

    Nothing is made before the first write, so that an installation nobody uses leaves no trace.

    Parameters
    ----------
    environ
        The environment.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        chosen = environ.get("OPENHANDS_HOME")
        base = Path(chosen) if chosen else Path(environ.get("HOME") or "~") / HOME_NAME
        self.path = Path(os.path.abspath(base.expanduser()))

    def ensure(self) -> Path:
        """The folder, made if need be; its own folder is closed to other users.

        Raises
        ------
        HomeNotWritable
            When it cannot be made or written to.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            mode = stat.S_IMODE(self.path.stat().st_mode)
            # A folder of another name may be shared on purpose, or be no less than /tmp.
            if mode & 0o077 and self.path.name == HOME_NAME:
                self.path.chmod(mode & 0o700)
        except OSError as error:
            raise HomeNotWritable(self.path, error) from error
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise HomeNotWritable(self.path)
        return self.path

    def problem(self) -> HomeNotWritable | None:
        """Why nothing can be kept here, found out without making the folder; None if it can."""
        existing = self.path
        while not existing.exists() and existing != existing.parent:
            existing = existing.parent
        if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK):
            return None
        return HomeNotWritable(self.path)

    def read_json(self, name: str) -> dict[str, Any]:
        """The JSON object in the file `name`; empty when there is no such file.

        Raises
        ------
        OSError, msgspec.DecodeError
            When the file cannot be read, or is not a JSON object.
        """
        try:
            content = (self.path / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return {}
        return msgspec.json.decode(content, type=dict[str, Any])

    def write_json(self, name: str, value: Mapping[str, Any]) -> None:
        """Replace the file `name` in one step, readable to its owner only.

        Raises
        ------
        HomeNotWritable
            When that fails; the file is then as it was.
        """
        folder = self.ensure()
        content = msgspec.json.format(msgspec.json.encode(dict(value)))
        try:
            # mkstemp gives mode 0600 from the start: the content is never readable to others.
            handle, partial = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
            try:
                with open(handle, "wb") as file:
                    file.write(content + b"\n")
                    file.flush()
                    os.fsync(handle)
                os.replace(partial, folder / name)
            except BaseException:
                os.unlink(partial)
                raise
        except OSError as error:
            raise HomeNotWritable(self.path, error) from error
