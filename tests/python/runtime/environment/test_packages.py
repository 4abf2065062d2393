"""What is installed in a sandbox: where it goes, who sees it, how long it lasts."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import sysconfig
from pathlib import Path

import pytest

from openhands_jupyter.errors import Conflict
from openhands_jupyter.runtime.environment import EnvironmentSettings, packages
from openhands_jupyter.runtime.environment.packages import PackagesFolder
from openhands_jupyter.runtime.owner import Owner

pytestmark = pytest.mark.sandbox

# Whether all else still fits together takes pip as long as all the rest.
INSTALL = "pip install --no-index --no-warn-conflicts wheels/thing-{}-py3-none-any.whl"
VERSION = "import thing; print(thing.version)"
BUNDLED = Path(sysconfig.get_path("stdlib", vars={"base": sys.base_prefix}), "ensurepip/_bundled")


@pytest.fixture(params=["bubblewrap", "landlock", "none"])
def isolation(request):
    if request.param == "bubblewrap" and shutil.which("bwrap") is None:
        pytest.skip("needs bubblewrap")
    return request.param


@pytest.fixture
def home(tmp_path):
    return tmp_path / "openhands"


@pytest.fixture(autouse=True)
def shared(tmp_path, monkeypatch):
    """Where root would keep those of others, which other tests use at the same time."""
    folder = tmp_path / "var"
    monkeypatch.setattr(packages, "OF_OTHERS", folder)
    return folder


@pytest.fixture
def asked(home):
    """Options of a runtime."""

    def options(python=""):
        return {"environment": EnvironmentSettings(python=str(python), home=home)}

    return options


def all_files(folder):
    """What is in a folder and since when, without what Python itself writes where it may."""
    paths = (path for path in folder.rglob("*") if "__pycache__" not in path.parts)
    return {str(path): path.lstat().st_mtime_ns for path in paths if not path.is_dir()}


async def installed(b, version="1.0"):
    ran = await b.sh(INSTALL.format(version))
    assert ran.exit_code == 0, ran.content


async def test_what_pip_installs_lies_above_the_environment_and_lasts(
    bench, asked, pythons, wheels, home
):
    mine = pythons.environment()
    pythons.install(mine, wheels / "thing-1.0-py3-none-any.whl")
    before = all_files(mine)
    async with bench(**asked(mine)) as b:
        assert (await b.sh(f"python -c '{VERSION}'")).content == "1.0\n"
        await installed(b, "2.0")
        assert (await b.cell(VERSION)).outputs[0].text == "2.0\n"
        assert (await b.sh(f"python -c '{VERSION}'; thing-command")).content == "2.0\n2.0\n"
        listed = (await b.sh("pip list 2>/dev/null | grep ^thing")).content.split()
        assert listed == ["thing", "2.0"]
    assert packages.size_of(home, b.workspace) > 0
    async with bench(**asked(mine)) as b:
        assert (await b.cell(VERSION)).outputs[0].text == "2.0\n"
        assert (await b.sh("thing-command")).content == "2.0\n"
        ran = await b.sh("pip uninstall -y thing")
        assert ran.exit_code == 0, ran.content
        assert (await b.sh(f"python -c '{VERSION}'")).content == "1.0\n"
        # What is below cannot be removed, and pip says so.
        ran = await b.sh("pip uninstall -y thing")
        assert "outside environment" in ran.content
        assert (await b.sh(f"python -c '{VERSION}'")).content == "1.0\n"
    assert all_files(mine) == before


@pytest.mark.parametrize("isolation", ["bubblewrap"], indirect=True)
async def test_pip_in_a_cell_installs_for_the_running_kernel(bench, asked, wheels, isolation):
    async with bench(**asked()) as b:
        assert (await b.cell(f"%{INSTALL.format('1.0')}")).ok
        assert (await b.cell(VERSION)).outputs[0].text == "1.0\n"
        assert (await b.cell(f"!{INSTALL.format('2.0')}")).ok
        again = "import importlib; importlib.reload(thing); print(thing.version)"
        assert (await b.cell(again)).outputs[0].text == "2.0\n"


async def test_packages_belong_to_a_workspace_are_mended_and_can_be_removed(
    bench, asked, wheels, home, tmp_path
):
    other = tmp_path / "other"
    other.mkdir()
    async with bench(**asked()) as b:
        await installed(b)
        ran = await b.sh(
            'rm -r "$VIRTUAL_ENV/bin"; mkfifo "$VIRTUAL_ENV/x"; cd "$VIRTUAL_ENV"; '
            "rm pyvenv.cfg; mkfifo pyvenv.cfg; ls"
        )
        assert "pyvenv.cfg" in ran.content
    async with bench(other, **asked()) as b:
        assert "No module named 'thing'" in (await b.sh(f"python -c '{VERSION}'")).content
    packages.remove(home, other)
    # What was spoiled is mended at the next start.
    async with bench(**asked()) as b:
        assert (await b.cell(VERSION)).outputs[0].text == "1.0\n"
        assert (await b.sh(f"python -c '{VERSION}'")).content == "1.0\n"
        await b.sh('chmod -R 000 "$VIRTUAL_ENV/lib"')
        with pytest.raises(Conflict):
            packages.remove(home, b.workspace)
        assert packages.remove_all(home) == 0
    assert packages.remove(home, b.workspace) > 0
    assert packages.size_of(home, b.workspace) == 0
    async with bench(**asked()) as b:
        assert "No module named 'thing'" in (await b.sh(f"python -c '{VERSION}'")).content


@pytest.mark.skipif(not list(BUNDLED.glob("pip-*.whl")), reason="needs a Python that brings pip")
async def test_an_environment_without_pip_gets_the_one_of_its_python(bench, asked, pythons, wheels):
    bare = pythons.environment("bare", packages=False)
    async with bench(**asked(bare)) as b:
        await installed(b)
        assert (await b.sh("thing-command")).content == "1.0\n"


async def test_pip_works_in_a_conda_environment(bench, asked, pythons, wheels):
    conda = pythons.conda()
    before = all_files(conda)
    async with bench(**asked(conda)) as b:
        await installed(b)
        assert (await b.cell(VERSION)).outputs[0].text == "1.0\n"
    assert all_files(conda) == before


async def test_the_badge_says_that_packages_are_writable(bench, asked, isolation):
    async with bench(**asked()) as b:
        found = await b.runtime.start()
        assert found.python.startswith("Python 3.")
        assert found.packages
        if found.level == "green":
            assert "the workspace and the packages for it are writable" in found.summary
        failed = {check.name for check in found.checks if not check.held}
        if isolation != "none":
            assert "write outside the workspace" not in failed
            assert "read private folders" not in failed


async def test_a_folder_that_cannot_be_made_is_told_and_the_sandbox_works(bench, asked, home):
    home.write_text("not a folder")
    async with bench(**asked()) as b:
        notice = (await b.runtime.start()).notice
        assert "No packages can be installed (Not a directory)" in notice
        assert (await b.cell("print(1)")).outputs[0].text == "1\n"


def test_removing_follows_no_link(home, tmp_path):
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("kept")
    precious.chmod(0o500)
    held = PackagesFolder.open(home, tmp_path / "work", "python", "")
    (held.path / "link").symlink_to(precious)
    held.close()
    packages.remove_all(home)
    assert not held.path.exists()
    assert (precious / "file").read_text() == "kept"
    assert stat.S_IMODE(precious.stat().st_mode) == 0o500


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_it_belongs_to_the_workspaces_owner_where_that_is_not_the_server(home, tmp_path, shared):
    held = PackagesFolder.open(home, tmp_path / "work", "python", "", Owner(1000, 1000))
    assert held.path.is_relative_to(shared)
    assert held.path.stat().st_uid == 1000
    for folder in held.path.relative_to(shared).parents:
        info = (shared / folder).stat()
        assert (info.st_uid, stat.S_IMODE(info.st_mode)) == (0, 0o711)
    held.close()
    assert packages.size_of(home, tmp_path / "work") == 0
    packages.remove(home, tmp_path / "work")
    assert not held.path.exists()


@pytest.mark.docker
@pytest.mark.parametrize("isolation", ["docker"], indirect=True)
async def test_a_container_keeps_its_packages_too(
    workspace, docker_settings, docker_host, monkeypatch, bench, asked
):
    monkeypatch.setenv("DOCKER_HOST", docker_host)
    os.chown(workspace, 1000, 1000)
    find = "python3 -c 'import sysconfig; print(sysconfig.get_path(\"purelib\"))'"
    async with bench(docker=docker_settings, **asked()) as b:
        folder = (await b.sh(find)).content.strip()
        assert folder.startswith("/run/openhands/packages/")
        assert (await b.cell(f"open('{folder}/kept.py', 'w').write('x = 1')")).ok
    async with bench(docker=docker_settings, **asked()) as b:
        assert (await b.cell("import kept; print(kept.x)")).outputs[0].text == "1\n"
