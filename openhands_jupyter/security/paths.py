"""Where a path leads, as far as that can be told before anything runs.

This informs the person who decides. Nothing is enforced here: a link may change between the look
and the deed, so keeping an action inside the workspace is the sandbox's task.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from pathlib import Path
from typing import Literal

from ..beneath import read_beneath

Place = Literal["workspace", "scratch", "device", "outside"]

MAX_SCRIPT = 200_000
_MOST_ATTEMPTS = 20

_SCRATCH = ("/tmp", "/dev/shm")
_DEVICES = re.compile(
    r"/dev/(null|zero|full|u?random|tty|std(in|out|err)|fd/\d+)|/proc/self/fd/\d+"
)

_CREDENTIALS = re.compile(
    r"""(^|/)(
        \.ssh | \.gnupg | \.aws | \.azure | \.kube | \.password-store | \.vault-token
      | \.docker/config\.json | \.config/(gcloud|gh|openhands) | \.openhands
      | [._]netrc | \.pypirc | \.npmrc | \.git-credentials | \.pgpass | \.my\.cnf
      | \.env(\.(?!example|sample|template|dist)[\w-]+)?
      | id_(rsa|dsa|ecdsa|ed25519) | keyrings | \.kaggle | \.huggingface | \.cache/huggingface/token
      | \.(bash|zsh|python|psql)_history
    )(/|$)
    | ^/etc/(shadow|gshadow|sudoers) | ^/proc/[^/]+/environ | ^/run/secrets""",
    re.VERBOSE,
)

_KERNELS = re.compile(
    r"""(^|/)(
        jupyter/runtime | kernel-[\w*?{}-]+\.json | (nb|jp)server-[\w*?-]+\.(json|html)
      | jupyter_cookie_secret | notebook_cookie_secret
    )(/|$)""",
    re.VERBOSE,
)

_PROTECTED = re.compile(
    r"""(^|/)(
        \.git/hooks(/.*)? | \.git/config | \.git/info/attributes | \.gitmodules
      | \.envrc | \.vscode(/.*)? | \.idea(/.*)?
      | jupyter_([\w-]+_)?config\.(py|json) | jupyter_([\w-]+_)?config\.d/.*
      | \.ipython(/.*)? | \.jupyter(/.*)? | ipython_([\w-]+_)?config\.py
      | (sitecustomize|usercustomize)\.py | [^/]+\.pth
      | \.(bashrc|bash_profile|bash_login|profile|zshrc|zshenv|inputrc|gitconfig)
    )$""",
    re.VERBOSE | re.IGNORECASE,
)


class Places:
    """Knows the workspace and says what a path is to it.

    Parameters
    ----------
    workspace
        The session's folder.

    Attributes
    ----------
    read_scripts
        Whether its scripts can be read.
    """

    read_scripts = True

    def __init__(self, workspace: Path) -> None:
        self.workspace = os.path.realpath(workspace)
        runtime = os.environ.get("JUPYTER_RUNTIME_DIR")
        self._runtime = os.path.realpath(runtime) if runtime else None

    def resolve(self, path: str, cwd: str | None = None) -> str:
        """The absolute path without links that `path` names, read from `cwd` or the workspace.

        It is the root folder where links change faster than they can be followed.
        """
        expanded = os.path.expanduser(path.replace("\0", ""))
        for _ in range(_MOST_ATTEMPTS):
            # What was a link when it was looked at may be a folder when it is followed.
            with contextlib.suppress(OSError):
                return os.path.realpath(os.path.join(cwd or self.workspace, expanded))
        return os.sep

    def notebook(self, path: str) -> str:
        """The path of a notebook as Jupyter's contents API understands it, from the workspace.

        Unlike for a shell, ``..`` takes back the name before it, even that of a link, and ``~`` is
        a name like any other.
        """
        inner = os.path.relpath(os.path.join(self.workspace, path), self.workspace)
        return os.path.join(os.curdir, inner) if inner.startswith("~") else inner

    def place(self, path: str, cwd: str | None = None) -> Place:
        """Which kind of place a path is in."""
        written = os.path.join(cwd or self.workspace, os.path.expanduser(path))
        if _DEVICES.fullmatch(os.path.normpath(written)):
            return "device"
        resolved = self.resolve(path, cwd)
        if is_within(resolved, self.workspace):
            return "workspace"
        if is_within(resolved, os.path.realpath(os.path.expanduser("~"))):
            return "outside"
        return "scratch" if any(is_within(resolved, root) for root in _SCRATCH) else "outside"

    def is_credential(self, path: str, cwd: str | None = None) -> bool:
        """Whether keys or passwords are usually kept there."""
        return any(_CREDENTIALS.search(name) for name in self._names(path, cwd))

    def is_kernel(self, path: str, cwd: str | None = None) -> bool:
        """Whether it belongs to the person's running kernels or Jupyter server."""
        if any(_KERNELS.search(name) for name in self._names(path, cwd)):
            return True
        return self._runtime is not None and is_within(self.resolve(path, cwd), self._runtime)

    def is_protected(self, path: str, cwd: str | None = None) -> bool:
        """Whether it is in the workspace but executed or obeyed outside the sandbox later."""
        resolved = self.resolve(path, cwd)
        if not is_within(resolved, self.workspace):
            return False
        inner = os.path.relpath(resolved, self.workspace)
        return bool(_PROTECTED.search(inner)) or self._in_venv(resolved)

    def read_script(self, path: str, cwd: str | None = None) -> str | None:
        """The text of a script in the workspace; None if there is none that can be read.

        Raises
        ------
        ValueError
            When it is too long to be looked through.
        """
        resolved = self.resolve(path, cwd)
        if not is_within(resolved, self.workspace):
            return None
        try:
            inner = os.path.relpath(resolved, self.workspace)
            content = read_beneath(self.workspace, inner, MAX_SCRIPT)
        except OSError as error:
            if error.errno == errno.EFBIG:
                raise ValueError(f"{path} is too long to be checked") from error
            return None
        return content.decode("utf-8", "replace")

    def exists(self, path: str, cwd: str | None = None) -> bool:
        """Whether a file (not a folder) stands there now."""
        return os.path.isfile(self.resolve(path, cwd))

    def _names(self, path: str, cwd: str | None) -> list[str]:
        """The ways in which a path may be recognised: as written, and where it leads.

        Below the workspace only the inner part counts, so that a workspace may itself lie in a
        folder such as ``~/.openhands/work``.
        """
        resolved = self.resolve(path, cwd)
        if is_within(resolved, self.workspace):
            inner = os.path.relpath(resolved, self.workspace)
            return [inner] if os.path.isabs(path) else [inner, os.path.normpath(path)]
        return [os.path.normpath(path), resolved]

    def _in_venv(self, resolved: str) -> bool:
        folder = resolved
        while folder != self.workspace and is_within(folder, self.workspace):
            if os.path.exists(os.path.join(folder, "pyvenv.cfg")):
                return True
            folder = os.path.dirname(folder)
        return False


class PlacesElsewhere(Places):
    """The same for a workspace on another machine, whose files cannot be looked at from here.

    Parameters
    ----------
    workspace
        The folder there.
    """

    read_scripts = False

    def __init__(self, workspace: str) -> None:
        self.workspace = workspace
        self._runtime = None

    def resolve(self, path: str, cwd: str | None = None) -> str:
        """The absolute path that `path` names; links there are not known here."""
        expanded = os.path.expanduser(path.replace("\0", ""))
        return os.path.normpath(os.path.join(cwd or self.workspace, expanded))

    def read_script(self, path: str, cwd: str | None = None) -> str | None:
        """None: it cannot be read from here."""
        return None

    def exists(self, path: str, cwd: str | None = None) -> bool:
        """True: a file may stand there."""
        return True

    def _in_venv(self, resolved: str) -> bool:
        return False


def is_within(path: str, folder: str) -> bool:
    """Whether a path is a folder or below it; links are not followed."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")
