"""Pythons of a person, made by the tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

SITE = sysconfig.get_path("purelib")


class Pythons:
    """Makes Pythons in a folder of the person's, and kernelspecs for them."""

    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    owner = 1000

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        monkeypatch.setenv("JUPYTER_PATH", str(folder))

    def site(self, prefix: Path) -> Path:
        """Where the packages of a Python are."""
        return prefix / "lib" / f"python{self.version}" / "site-packages"

    def environment(self, name: str = "mine", packages: bool = True) -> Path:
        """A virtual environment, with the server's packages or with none."""
        folder = self.folder / name
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        return self._with_packages(folder, packages)

    def conda(self, name: str = "conda") -> Path:
        """A prefix as conda makes it: an installation of its own, with records of packages."""
        folder = self.folder / name
        base = Path(sys.base_prefix)
        library = f"lib/python{self.version}"
        # What is compiled comes along: it could not be written where the environment is.
        skip = shutil.ignore_patterns("*-packages", "sitecustomize.py", "test", "idlelib", "*.a")
        shutil.copytree(base / library, folder / library, symlinks=True, ignore=skip)
        for shared in (base / "lib").glob("libpython*.so*"):
            shutil.copy2(shared, folder / "lib", follow_symlinks=False)
        (folder / "bin").mkdir()
        program = f"python{self.version}"
        shutil.copy2(os.path.realpath(sys.executable), folder / "bin" / program)
        (folder / "bin" / "python").symlink_to(program)
        (folder / "conda-meta").mkdir()
        (folder / "conda-meta" / "history").write_text("")
        self.site(folder).mkdir()
        # Where Debian's Python looks instead.
        (self.site(folder).parent / "dist-packages").symlink_to("site-packages")
        return self._with_packages(folder, True)

    def install(self, prefix: Path, wheel: Path) -> None:
        """Install a wheel that needs nothing else."""
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(self.site(prefix))

    def kernelspec(self, name: str, argv: list[str], language: str = "python") -> None:
        """Install a kernelspec."""
        spec = self.folder / "kernels" / name
        spec.mkdir(parents=True)
        content = {"argv": argv, "display_name": f"The {name}", "language": language}
        (spec / "kernel.json").write_text(json.dumps(content))

    def _with_packages(self, folder: Path, packages: bool) -> Path:
        if packages:
            (self.site(folder) / "server.pth").write_text(f"{SITE}\n")
        (self.site(folder) / "only_here.py").write_text(f"name = {folder.name!r}\n")
        return folder


def make_wheel(folder: Path, name: str, version: str) -> Path:
    """Build a wheel with a module of this name and a command that says the version."""
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": f"version = {version!r}\n\ndef main():\n    print(version)\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{name}-command = {name}:main\n",
    }
    record = "".join(f"{path},,\n" for path in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, content in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(path, content)
    return wheel


@pytest.fixture
def wheels(workspace: Path) -> Path:
    """A folder in the workspace with two versions of a package."""
    folder = workspace / "wheels"
    folder.mkdir()
    for version in ("1.0", "2.0"):
        make_wheel(folder, "thing", version)
    return folder


@pytest.fixture
def pythons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pythons:
    folder = tmp_path / "pythons"
    folder.mkdir()
    return Pythons(folder, monkeypatch)
