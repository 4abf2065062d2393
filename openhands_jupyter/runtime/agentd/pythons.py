"""What a Python is, told from its files alone: nothing of it is executed.

The layout of virtual environments is that of PEP 405, how Python finds its own folders is described
in CPython's ``Modules/getpath.py``.
"""

from __future__ import annotations

import os
import re
from collections import namedtuple

from .errors import ActionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OLDEST = (3, 8)

_LONGEST_MARKER = 100_000

_VERSION = re.compile(r"3\.(\d+)t?")
_NAMED_VERSION = re.compile(r"python(3\.\d+t?)")
_AGAIN = "Make the environment again, or choose another Python in the settings."


class Python(namedtuple("Python", "executable prefix base home version isolated")):
    """A Python that may be an environment within another one.

    Attributes
    ----------
    executable
        The program, by the name that it was found under.
    prefix
        Its own folder.
    base
        The folder of the installation behind it; ``prefix`` if there is none.
    home
        The folder of that installation's program.
    version
        As in the names of its folders, such as ``3.11``.
    isolated
        Whether it leaves out the installation's packages.
    """

    executable: str
    prefix: str
    base: str
    home: str
    version: str
    isolated: bool

    @classmethod
    def of(cls, fields: Any) -> Python:
        """The one that was sent as JSON."""
        return cls(**fields)

    @property
    def is_environment(self) -> bool:
        """Whether it is a virtual environment."""
        return os.path.isfile(os.path.join(self.prefix, "pyvenv.cfg"))

    def site_folders(self) -> list[str]:
        """Where its own packages are; what is missing or named twice is left out."""
        return site_folders(self.prefix, self.version)

    def folders(self) -> list[str]:
        """Every folder that it needs, under each name that it looks for it."""
        named = [self.prefix, self.base, os.path.dirname(self.home)]
        kept = {os.path.realpath(folder) for folder in named}
        link = self.executable
        while os.path.islink(link):
            link = os.path.join(os.path.dirname(link), os.readlink(link))
            folder = os.path.dirname(os.path.dirname(os.path.abspath(link)))
            if os.path.realpath(folder) in kept:
                named.append(folder)
        return list(dict.fromkeys([*map(os.path.realpath, named), *named]))


def site_folders(prefix: str, version: str) -> list[str]:
    """The folders for packages below a prefix; what is missing or named twice is left out."""
    names = (os.path.join(prefix, lib, f"python{version}", "site-packages") for lib in _LIBS)
    found = {os.path.realpath(name): name for name in reversed(list(names)) if os.path.isdir(name)}
    return list(reversed(list(found.values())))


def describe(path: str) -> Python:
    """Describe the Python at a path.

    Parameters
    ----------
    path
        An absolute path: the program, or the folder of an environment or an installation.

    Raises
    ------
    ActionError
        ``python_broken`` when there is none, it is incomplete or too old.
    """
    executable = _program(path)
    for folder in (os.path.dirname(executable), os.path.dirname(os.path.dirname(executable))):
        if os.path.isfile(os.path.join(folder, "pyvenv.cfg")):
            return _environment(executable, folder)
    real = os.path.realpath(executable)
    home = os.path.dirname(real)
    base = os.path.dirname(home)
    if not os.path.basename(real).startswith("python"):
        raise _broken(f"{executable} is no Python, but {real}.")
    version = _version_of(base, os.path.basename(real))
    return Python(executable, base, base, home, version, isolated=False)


_LIBS = ("lib", "lib64")


def _program(path: str) -> str:
    if os.path.isdir(path):
        names = (os.path.join(path, "bin", name) for name in ("python", "python3"))
        found = next(filter(os.path.lexists, names), None)
        if found is None:
            raise _broken(f"There is no Python in the folder {path}: it has no bin/python.")
        path = found
    if os.path.islink(path) and not os.path.exists(path):
        raise _broken(f"{path} is a link to {os.path.realpath(path)}, which does not exist.")
    if not os.path.isfile(path):
        raise _broken(f"There is no Python at {path}.")
    if not os.access(path, os.X_OK):
        raise _broken(f"{path} may not be executed.")
    return os.path.abspath(path)


def _environment(executable: str, prefix: str) -> Python:
    marker = os.path.join(prefix, "pyvenv.cfg")
    keys = _read_marker(marker)
    home = keys.get("home", "")
    if not os.path.isabs(home) or not os.path.isdir(home):
        raise _broken(
            f"The environment {prefix} was made with the Python in {home or 'an unknown folder'}, "
            "which does not exist."
        )
    base = os.path.dirname(home)
    told = _VERSION.match(keys.get("version") or keys.get("version_info") or "")
    version = _version_of(base, f"python{told.group()}" if told else "")
    isolated = keys.get("include-system-site-packages", "").lower() != "true"
    return Python(executable, prefix, base, home, version, isolated)


def _read_marker(path: str) -> dict[str, str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            pairs = [line.partition("=") for line in file.read(_LONGEST_MARKER).splitlines()]
    except OSError as error:
        raise _broken(f"{path} cannot be read ({error.strerror}).") from error
    return {key.strip().lower(): value.strip() for key, _, value in pairs}


def _version_of(base: str, name: str) -> str:
    """The version of the installation in ``base``, whose program may have this name."""
    named = _NAMED_VERSION.match(name)
    candidates = [named.group(1), f"{named.group(1)}t"] if named else []
    if not named:
        for lib in _LIBS:
            candidates += _versions_in(os.path.join(base, lib))
    for version in dict.fromkeys(candidates):
        paths = (os.path.join(base, lib, f"python{version}", "os.py") for lib in _LIBS)
        if any(map(os.path.isfile, paths)):
            _require_new(base, version)
            return version
    raise _broken(f"{base} holds no Python: its standard library is missing.")


def _versions_in(folder: str) -> list[str]:
    try:
        found = map(_NAMED_VERSION.fullmatch, os.listdir(folder))
    except OSError:
        return []
    return [match.group(1) for match in found if match]


def _require_new(base: str, version: str) -> None:
    match = _VERSION.match(version)
    if match and (3, int(match.group(1))) < OLDEST:
        raise _broken(f"The Python in {base} is version {version}, and 3.8 or newer is needed.")


def _broken(message: str) -> ActionError:
    return ActionError("python_broken", message, _AGAIN)
