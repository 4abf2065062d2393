"""A pytest plugin: a test run has a place of its own, and nothing may be left in it afterwards.

Counted are only what this run made, however many runs there are on the machine: the processes
below it, those included whose parent has ended; control groups, as far as the run may have one of
its own that they are made in; run directories with their sockets; Docker containers; and temporary
files, but for those that pytest itself gives the tests.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import psutil
import pytest
from docker_image.daemon import answers

from openhands_jupyter.runtime import cgroups
from openhands_jupyter.runtime.docker import sweep
from openhands_jupyter.runtime.environment import packages

EXIT_CODE = 7
"""That of a run which left something, and of no other."""

PATIENCE = 20.0
OF_OTHERS = packages.OF_OTHERS
_SET_CHILD_SUBREAPER = 36
_HELPER = "multiprocessing.resource_tracker"
"""Python's own, which ends with the process that uses multiprocessing."""

_OF_PYTEST = "PYTEST_DEBUG_TEMPROOT"
_GROUP = "ohj-tests-"
_CONTROLLERS = {"memory", "pids", "cpu", ""}


class Run:
    """One test run, from its first test to the last."""

    def __init__(self) -> None:
        # Not below TMPDIR, where the paths of sockets could become too long.
        self.folder = Path(tempfile.mkdtemp(prefix="ohj-", dir="/tmp"))
        self.left: list[str] = []
        self._groups: list[tuple[Path, Path]] = []
        self._variables = {
            "XDG_RUNTIME_DIR": str(self.folder),
            # What root keeps for others is in a folder of the system, where they get at it.
            "STATE_DIRECTORY": str(self.folder / "var"),
            "TMPDIR": str(self.folder / "tmp"),
            # Pytest keeps the files of the last runs, for those who look why a test failed.
            _OF_PYTEST: os.environ.get(_OF_PYTEST) or tempfile.gettempdir(),
        }
        self._before = {name: os.environ.get(name) for name in self._variables}

    def begin(self) -> None:
        """Give the run its own place."""
        self.folder.chmod(0o711)
        (self.folder / "tmp").mkdir()
        (self.folder / "tmp").chmod(0o1777)
        os.environ.update(self._variables)
        tempfile.tempdir = None
        packages.OF_OTHERS = self.folder / "var" / OF_OTHERS.name
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        for tree in cgroups._trees():
            if tree.controllers & _CONTROLLERS:
                with contextlib.suppress(OSError):
                    self._groups.append((tree.own, _group_below(tree)))

    def end(self, passed: bool) -> None:
        """Find what is left, and remove it; the files of failed tests may be left."""
        give_up = time.monotonic() + PATIENCE
        while (left := list(self._found(passed))) and time.monotonic() < give_up:
            time.sleep(0.1)
        self.left = left
        for process in processes_below():
            with contextlib.suppress(psutil.Error):
                process.kill()
        for parent, group in self._groups:
            (parent / "cgroup.procs").write_text(str(os.getpid()))
            for folder in (*_groups_in(group), group):
                cgroups.remove(folder)
        packages.OF_OTHERS = OF_OTHERS
        for name, value in self._before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        tempfile.tempdir = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def _found(self, files: bool) -> Iterator[str]:
        for process in processes_below():
            with contextlib.suppress(psutil.Error):
                yield f"process {process.pid}: {' '.join(process.cmdline()) or process.name()}"
        for _, group in self._groups:
            yield from map("control group {}".format, _groups_in(group))
        for folder in self.folder.glob("**/ohj/*"):
            yield f"run directory {folder}"
        if files:
            for path in (self.folder / "tmp").iterdir():
                yield f"temporary {path}: {', '.join(_names_in(path))}"
        yield from map("container {}".format, self._containers())

    def _containers(self) -> list[str]:
        import docker

        host = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
        if not answers(host):
            return []
        with contextlib.closing(docker.DockerClient(base_url=host, timeout=20)) as client:
            containers = client.api.containers(all=True, filters={"label": sweep.SANDBOX})
        # Other runs may use the same daemon.
        ours = f"{self.folder}/"
        return [c["Id"] for c in containers if c["Labels"].get(sweep._FOLDER, "").startswith(ours)]


def _group_below(tree: cgroups._Tree) -> Path:
    """A group for this process and all it starts, in which others can be made."""
    for of_killed_run in tree.own.glob(f"{_GROUP}*"):
        if not psutil.pid_exists(int(of_killed_run.name.removeprefix(_GROUP))):
            for folder in (*_groups_in(of_killed_run), of_killed_run):
                with contextlib.suppress(OSError):
                    folder.rmdir()
    group = tree.own / f"{_GROUP}{os.getpid()}"
    group.mkdir()
    try:
        (group / "cgroup.procs").write_text(str(os.getpid()))
    except OSError:
        group.rmdir()
        raise
    return group


def _groups_in(group: Path) -> list[Path]:
    return sorted((path for path in group.glob("**/") if path != group), reverse=True)


def _names_in(path: Path) -> list[str]:
    """Some of the files in a folder, by which it may be known whose it is."""
    return [str(each.relative_to(path)) for each in islice(path.glob("**/*"), 5)]


def processes_below() -> list[psutil.Process]:
    """What runs below this process; not what has ended and was handed to it, nor `_HELPER`."""
    running = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            ended = process.status() == psutil.STATUS_ZOMBIE
            if not ended and _HELPER not in " ".join(process.cmdline()):
                running.append(process)
    return running


_RUN = pytest.StashKey[Run]()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Begin a run, unless tests are just listed."""
    if not session.config.option.collectonly:
        run = session.config.stash[_RUN] = Run()
        run.begin()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """See what is left once all fixtures have been torn down."""
    run = session.config.stash.get(_RUN, None)
    if run is not None:
        run.end(passed=exitstatus == pytest.ExitCode.OK)
        if run.left:
            session.exitstatus = EXIT_CODE


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say what was left."""
    run = config.stash.get(_RUN, None)
    if run is not None and run.left:
        terminalreporter.section("left over by this test run", red=True)
        terminalreporter.write_line("\n".join(run.left))
