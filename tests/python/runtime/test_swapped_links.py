"""Links put in the place of paths between the look at them and their use, by another session."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from openhands_jupyter.beneath import handle_without_links
from openhands_jupyter.errors import SandboxUnavailable
from openhands_jupyter.runtime import bubblewrap
from openhands_jupyter.runtime.launch import Launch
from openhands_jupyter.runtime.rundir import RunDirectory

pytestmark = pytest.mark.sandbox

SECRET = "secret-0123456789"


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    folder = tmp_path / "secrets"
    folder.mkdir(mode=0o755)
    (folder / "key").write_text(SECRET)
    return folder


@pytest.fixture
def swap(monkeypatch: pytest.MonkeyPatch, secrets: Path) -> Callable[[Path], None]:
    """Puts a link in the place of a path once everything protected has been found."""

    def swap(path: Path) -> None:
        def found_then_swapped(workspace: Path) -> Iterator[tuple[Path, bool]]:
            yield from found(workspace)
            if not path.is_symlink():
                path.rename(path.with_name("moved"))
                path.symlink_to(secrets)

        monkeypatch.setattr(bubblewrap, "protected_in", found_then_swapped)

    found = bubblewrap.protected_in
    return swap


def test_all_of_the_workspace_is_mounted_by_handle(
    workspace: Path, swap: Callable[[Path], None]
) -> None:
    """bubblewrap looks at a path twice, and who swaps fast enough shows it a link in between."""
    for name in (".git/hooks", ".vscode"):
        (workspace / name).mkdir(parents=True)
    (workspace / ".git" / "config").touch()
    (workspace / ".envrc").touch()
    expected = [workspace, *(path for path, _ in bubblewrap.protected_in(workspace))]
    inodes = [path.stat().st_ino for path in expected]
    swap(workspace / ".vscode")
    run_directory = RunDirectory.create()
    built = bubblewrap.command(Launch(workspace=workspace, run_directory=run_directory))
    try:
        with built.open_fds():
            arguments = os.pread(int(built.argv[2]), 1 << 20, 0).decode().split("\0")
            options = list(zip(arguments, arguments[1:], arguments[2:], strict=False))
            mounted = [o for o in options if o[0].endswith(("bind-fd", "bind"))]
            ours = [o for o in mounted if Path(o[2]).is_relative_to(workspace)]
            assert [o[2] for o in ours] == [str(path) for path in expected]
            assert [os.fstat(int(handle)).st_ino for _, handle, _ in ours] == inodes
    finally:
        run_directory.remove()


@pytest.mark.parametrize("isolation", ["bubblewrap"], indirect=True)
@pytest.mark.parametrize("name", [".vscode", ".git"])
async def test_a_protected_folder_that_becomes_a_link(
    bench, workspace: Path, secrets: Path, swap: Callable[[Path], None], name: str
) -> None:
    (workspace / name).mkdir()
    (workspace / name / "config").write_text("")
    swap(workspace / name)
    try:
        async with bench() as b:
            command = f"cat {name}/key moved/key; echo gone > {name}/key; echo gone > moved/key"
            assert SECRET not in (await b.sh(command)).content
    except SandboxUnavailable:
        # It may refuse to start; what it may not is to show what the link leads to.
        assert (workspace / name).is_symlink()
    assert (secrets / "key").read_text() == SECRET


@pytest.mark.parametrize("isolation", ["bubblewrap"], indirect=True)
async def test_no_handle_gets_into_the_sandbox(bench, workspace: Path) -> None:
    (workspace / ".vscode").mkdir()
    async with bench() as b:
        leads = await b.cell(
            "import os\n"
            "for pid in filter(str.isdigit, os.listdir('/proc')):\n"
            "    for fd in os.listdir(f'/proc/{pid}/fd'):\n"
            "        try: print(os.readlink(f'/proc/{pid}/fd/{fd}'))\n"
            "        except OSError: pass\n"
        )
        held = "".join(str(output.text) for output in leads.outputs)
        assert "socket:" in held
        assert ".vscode" not in held and f"{workspace}\n" not in held


def test_no_handle_stays_of_a_command_that_could_not_be_made(tmp_path: Path) -> None:
    run_directory = RunDirectory.create()
    before = os.listdir("/proc/self/fd")
    try:
        launch = Launch(workspace=tmp_path / "gone", run_directory=run_directory)
        with pytest.raises(SandboxUnavailable):
            bubblewrap.command(launch)
        assert os.listdir("/proc/self/fd") == before
    finally:
        run_directory.remove()


def test_a_handle_is_not_on_a_link(tmp_path: Path) -> None:
    (tmp_path / "folder" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to("folder")
    top = handle_without_links(tmp_path)
    try:
        handle = handle_without_links("folder/inner", top)
        assert os.path.samestat(os.fstat(handle), (tmp_path / "folder" / "inner").stat())
        os.close(handle)
        before = os.listdir("/proc/self/fd")
        for path in ("link", "link/inner", "nothing", "folder/../folder"):
            with pytest.raises(OSError, match=path):
                handle_without_links(path, top)
        assert os.listdir("/proc/self/fd") == before
    finally:
        os.close(top)
