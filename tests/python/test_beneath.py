"""What the server opens in a workspace stays in it, also while the path changes."""

from __future__ import annotations

import errno
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from waiting import PATIENCE

from openhands_jupyter import beneath
from openhands_jupyter.beneath import open_beneath, read_beneath
from openhands_jupyter.config.files import read_workspace_file
from openhands_jupyter.config.layers import Layer
from openhands_jupyter.security.paths import Places

SECRET = b"model = 'secret'\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / "inner" / "deeper").mkdir(parents=True)
    (folder / "inner" / "file").write_bytes(b"inside")
    (folder / "link").symlink_to("inner/file")
    (folder / "inner" / "deeper" / "up").symlink_to("../../link")
    (folder / "outside").symlink_to(tmp_path)
    (folder / "relative").symlink_to("../secret")
    (folder / "circle").symlink_to("circle")
    (tmp_path / "secret").write_bytes(SECRET)
    return folder


@pytest.fixture(params=["openat2", "by hand", "forbidden"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With the system call, without it, and where a container forbids it."""
    if request.param != "openat2":
        number = errno.ENOSYS if request.param == "by hand" else errno.EPERM

        def absent(*_: object) -> int:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(beneath, "_openat2", absent)
    name: str = request.param
    return name


@pytest.mark.parametrize(
    "path", ["inner/file", "./inner//file", "inner/../inner/file", "link", "inner/deeper/up"]
)
def test_what_stays_below_is_read(workspace: Path, way: str, path: str) -> None:
    assert read_beneath(workspace, path, 6) == b"inside"


@pytest.mark.parametrize(
    ("path", "number"),
    [
        ("../secret", errno.EXDEV),
        ("inner/../../secret", errno.EXDEV),
        ("relative", errno.EXDEV),
        ("outside/secret", errno.EXDEV),
        ("/etc/passwd", errno.EXDEV),
        ("circle", errno.ELOOP),
        ("nothing", errno.ENOENT),
        ("inner/file/below", errno.ENOTDIR),
        ("inner", errno.EINVAL),
    ],
)
def test_what_does_not_is_refused(workspace: Path, way: str, path: str, number: int) -> None:
    with pytest.raises(OSError) as caught:
        read_beneath(workspace, path, 100)
    assert caught.value.errno == number


def test_what_is_long_or_no_file_is_refused(workspace: Path, way: str) -> None:
    os.mkfifo(workspace / "pipe")
    for path, number in (("inner/file", errno.EFBIG), ("pipe", errno.EINVAL)):
        with pytest.raises(OSError) as caught:
            read_beneath(workspace, path, 5)
        assert caught.value.errno == number


def test_a_link_may_be_refused_altogether(workspace: Path, way: str) -> None:
    with pytest.raises(OSError) as caught:
        read_beneath(workspace, "link", 100, os.O_NOFOLLOW)
    assert caught.value.errno == errno.ELOOP


def test_a_folder_is_opened(workspace: Path, way: str) -> None:
    for path in ("inner", ".", "inner/", "inner/."):
        fd = open_beneath(workspace, path, os.O_RDONLY | os.O_DIRECTORY)
        assert not os.get_inheritable(fd)
        assert os.listdir(fd)
        os.close(fd)


def test_no_descriptor_is_left_open(workspace: Path, way: str) -> None:
    def count() -> int:
        return len(os.listdir("/proc/self/fd"))

    before = count()
    read_beneath(workspace, "inner/deeper/up", 100)
    for path in ("outside/secret", "nothing", "inner/file/below"):
        with pytest.raises(OSError):
            read_beneath(workspace, path, 100)
    assert count() == before


def swap(workspace: str) -> None:
    """Put a link out of the workspace in the place of a folder, and back, until killed."""
    os.chdir(workspace)
    os.symlink("..", "way-out")
    while True:
        os.rename("target", "kept")
        os.rename("way-out", "target")
        os.rename("target", "way-out")
        os.rename("kept", "target")


@pytest.fixture
def swapped(tmp_path: Path) -> Iterator[Path]:
    """A workspace whose folder ``target`` is a link to outside every other moment."""
    workspace = tmp_path / "workspace"
    (workspace / "target").mkdir(parents=True)
    (workspace / "target" / "secret").write_bytes(b"# inside\n")
    (tmp_path / "secret").write_bytes(SECRET)
    process = multiprocessing.get_context("spawn").Process(target=swap, args=(str(workspace),))
    process.start()
    deadline = time.monotonic() + PATIENCE
    while not os.path.lexists(workspace / "way-out") and (workspace / "target").is_dir():
        assert time.monotonic() < deadline and process.is_alive()
    yield workspace
    process.kill()
    process.join()


def race(look: Callable[[], bytes | None], awaited: bytes) -> set[bytes | None]:
    """What was read while the folder was swapped: in three seconds, and until this was read."""
    seen: set[bytes | None] = set()
    begun = time.monotonic()
    while (passed := time.monotonic() - begun) < 3 or (awaited not in seen and passed < PATIENCE):
        try:
            seen.add(look())
        except OSError:
            seen.add(None)
    return seen


def test_a_swapped_folder_leads_nowhere(swapped: Path, way: str) -> None:
    seen = race(lambda: read_beneath(swapped, "target/secret", 100), b"# inside\n")
    assert b"# inside\n" in seen
    assert SECRET not in seen


def test_the_race_is_real(swapped: Path) -> None:
    def checked_first() -> bytes | None:
        path = os.path.realpath(swapped / "target" / "secret")
        inside = path.startswith(f"{swapped}/")
        return (swapped / "target" / "secret").read_bytes() if inside else None

    assert SECRET in race(checked_first, SECRET)


def test_a_link_that_is_none_any_more_when_it_is_followed_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the kernel says EINVAL for it; the gate asks for paths while programs run."""
    (tmp_path / "link").symlink_to("file")
    places, follow, left = Places(tmp_path), os.readlink, [1]

    def swapped_once(path: str, **options: int) -> str:
        if left:
            left.pop()
            raise OSError(errno.EINVAL, "Invalid argument", path)
        return follow(path, **options)

    monkeypatch.setattr(os, "readlink", swapped_once)
    assert places.resolve("link") == f"{tmp_path}/file"
    left[:] = [1] * 1000
    assert places.place("link") == "outside"


def test_settings_and_scripts_of_a_workspace_are_read_in_no_other_place(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    (workspace / ".openhands").mkdir(parents=True)
    (tmp_path / "config.toml").write_text("[llm]\nmodel = 'openai/outside'\n")
    (workspace / ".openhands" / "config.toml").symlink_to(tmp_path / "config.toml")
    file = workspace / ".openhands" / "config.toml"
    layer = read_workspace_file(file, workspace, Layer("config.toml"))
    assert layer.values == {}
    assert "leads out of the folder" in layer.problems[0].message
    (workspace / "script").symlink_to(tmp_path / "config.toml")
    assert Places(workspace).read_script("script") is None
