"""Finding the Python that was asked for, from files alone: what it is was not vetted by anybody,
and may only be executed within a sandbox."""

from __future__ import annotations

import shutil
import site
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from ...errors import Invalid
from ..agentd.errors import ActionError
from ..agentd.pythons import Python, describe
from ..owner import Owner
from ..workspace import SHARED, private_folders

CHOOSE = "Choose another Python in the settings."


class _Examined(msgspec.Struct):
    version: tuple[int, int] | None = None
    ipykernel: bool = False
    error: str = ""


@dataclass(frozen=True)
class KernelPython:
    """The Python of a sandbox's kernels and shell.

    Attributes
    ----------
    where
        Where it is, for people.
    python
        It; None where it cannot be used, and for that of an image, which only the image knows.
    chosen
        Whether somebody chose it, or it is the server's own.
    problem
        Why it cannot be used; None if it can, so far as its files tell.
    """

    where: str = "the environment that Jupyter runs in"
    python: Python | None = None
    chosen: bool = False
    problem: Invalid | None = None

    def folders(self) -> Iterator[tuple[str, str]]:
        """Each folder that it needs beyond the server's Python, and the name to find it by."""
        if self.python is None or not self.chosen:
            return
        for name in self.python.folders():
            yield str(Path(name).resolve()), name
        # Where "pip install --user" put packages, which environments leave out.
        user = Path(site.getuserbase(), "lib", f"python{self.python.version}", "site-packages")
        if user.is_dir() and not (self.python.is_environment and self.python.isolated):
            yield str(user), str(user)

    def fields(self) -> dict[str, Any] | None:
        """It, as agentd is told."""
        return None if self.python is None else self.python._asdict()


def choose(asked: str, workspace: Path, owner: Owner | None = None) -> KernelPython:
    """Find the Python that was asked for.

    It reads files, so it is not to be called on the event loop.

    Parameters
    ----------
    asked
        As in `EnvironmentSettings`.
    workspace
        The folder that must stay writable.
    owner
        Who has to be able to use it, if not the server's own user.

    Returns
    -------
    KernelPython
        With its ``problem`` where it cannot be used.
    """
    if not asked:
        return _the_servers()
    where = f"“{asked}”"
    try:
        path = _path_of(asked)
        where = path
        python = describe(path)
        where = python.prefix
        _check_folders(python, workspace)
        if owner is not None and not owner.can_enter(python.folders()):
            raise Invalid(
                "python_unreadable",
                f"The Python in {where} cannot be read by user {owner.uid}, whose rights the "
                "sandbox has because the workspace is theirs.",
                f"Make it and the folders above it readable for all. {CHOOSE}",
            )
    except ActionError as error:
        problem = Invalid(error.code, error.message, error.hint)
        return KernelPython(where, chosen=True, problem=problem)
    except Invalid as problem:
        return KernelPython(where, chosen=True, problem=problem)
    return KernelPython(where, python, chosen=True)


def explain_failure(kernel_python: KernelPython, found: Any, log: str) -> tuple[str, str]:
    """Say why a kernel did not start, from what examining its Python found.

    Parameters
    ----------
    kernel_python
        The kernel's.
    found
        What agentd answered; see `agentd.environment.examine`.
    log
        What the kernel wrote.

    Returns
    -------
    tuple
        A sentence on what is wrong, and one on what to do.
    """
    where = kernel_python.where
    # The person cannot do anything in an image from here.
    program = kernel_python.python.executable if kernel_python.python else ""
    examined = msgspec.convert(found, _Examined)
    if examined.error:
        return (
            f"The Python in {where} does not work: {examined.error}.",
            f"Run '{program} -c 1' in a terminal to see why. {CHOOSE}" if program else "",
        )
    if not examined.ipykernel:
        return (
            f"The Python in {where} has no ipykernel, which runs the cells.",
            f"Run '{program} -m pip install ipykernel' in a terminal."
            if program
            else "Install it there.",
        )
    last = log.strip().splitlines()[-1] if log.strip() else "it said nothing"
    return (
        f"The kernel of the Python in {where} did not start: {last}.",
        f"Run '{program} -m ipykernel_launcher' in a terminal to see why." if program else "",
    )


def _the_servers() -> KernelPython:
    try:
        return KernelPython(python=describe(sys.executable))
    except ActionError:
        # An unusual installation, which yet runs this server.
        return KernelPython()


def _path_of(asked: str) -> str:
    if "/" in asked:
        return str(Path(asked).expanduser().absolute())
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        spec = KernelSpecManager().get_kernel_spec(asked)
    except NoSuchKernel as error:
        raise Invalid(
            "python_unknown",
            f"There is no kernelspec named “{asked}”.",
            "Choose one of those that 'jupyter kernelspec list' shows, or give the path of an "
            "environment.",
        ) from error
    return executable_of(asked, spec.language, spec.argv)


def executable_of(name: str, language: str, argv: list[str]) -> str:
    """The Python that a kernelspec starts.

    Raises
    ------
    Invalid
        When it is for another language, or does not start a Python.
    """
    program = argv[0] if argv else ""
    if language.lower() != "python" or not Path(program).name.startswith("python"):
        raise Invalid(
            "python_only",
            f"The kernelspec “{name}” does not start a Python ({language or 'no language'}); "
            "the agent works in Python kernels only.",
            CHOOSE,
        )
    if "/" in program:
        return program
    # As jupyter_client has it: these names mean the Python that Jupyter runs in.
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if program in ("python", "python3", f"python{version}"):
        return sys.executable
    return shutil.which(program) or program


def _check_folders(python: Python, workspace: Path) -> None:
    """Refuse what would show more than a Python, or make the workspace read-only.

    A folder in the workspace may say anything of where its Python is.
    """
    hidden = [Path.home(), *private_folders()]
    for folder in map(Path, python.folders()):
        inside = [path for path in hidden if path.resolve().is_relative_to(folder)]
        if str(folder) in SHARED or inside:
            raise Invalid(
                "python_unsafe",
                f"The Python at {python.executable} lies in {folder}, together with what the "
                "agent must not see.",
                CHOOSE,
            )
        if workspace.is_relative_to(folder):
            raise Invalid(
                "python_unsafe",
                f"The workspace {workspace} lies in {folder}, which belongs to the Python and "
                "would be read-only.",
                CHOOSE,
            )
