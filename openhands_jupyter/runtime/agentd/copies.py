"""Files that are brought into the sandbox, beside the workspace."""

from __future__ import annotations

import base64
import os
import tempfile

from .errors import ActionError
from .paths import explained


class Copies:
    """Keeps them until the sandbox ends.

    Parameters
    ----------
    scratch
        Where they are put, in a folder of their own.
    """

    def __init__(self, scratch: str) -> None:
        self._scratch = scratch
        self._paths: set[str] = set()

    def add(self, path: str, name: str, content: str) -> dict[str, str]:
        """Write a piece of a file.

        Parameters
        ----------
        path
            The file, as it was told with its first piece; empty for the first.
        name
            What the file is to be called.
        content
            The piece, in base64.

        Raises
        ------
        ActionError
            When it cannot be written.
        """
        if path and path not in self._paths:
            raise ActionError("bad_path", f"{path} is not being brought here.")
        try:
            if not path:
                folder = tempfile.mkdtemp(prefix="openhands-copied-", dir=self._scratch)
                path = os.path.join(folder, name)
                self._paths.add(path)
            with open(path, "ab") as file:
                file.write(base64.b64decode(content))
        except OSError as error:
            raise explained(error, path or name) from error
        return {"path": path}
