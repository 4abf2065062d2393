"""An image without a registry: this machine's Python with ipykernel, bash and the usual commands.

The archive is kept in ``.make`` by a hash of what it is made of, so that only the first run takes
its time.
"""

from __future__ import annotations

import compileall
import fcntl
import hashlib
import importlib.metadata
import io
import os
import py_compile
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".make" / "docker-image"

IMAGE = "openhands-jupyter-test"
"""With the hash of the archive as the tag."""

PYTHON = "opt/python"

_DEBIAN_PACKAGES = ("bash", "coreutils", "findutils", "grep", "mawk", "sed")
_MORE_COMMANDS = ("ps", "setsid", "unshare")

_STDLIB_WITHOUT = {
    *(
        "__pycache__",
        "dist-packages",
        "ensurepip",
        "idlelib",
        "lib2to3",
        "site-packages",
        "test",
        "tkinter",
    ),
    "turtledemo",
}
_DISTRIBUTION = "ipykernel"
# The debugger is large, and ipykernel works without it.
_DISTRIBUTIONS_WITHOUT = {"debugpy"}
_PARTS_WITHOUT = {"__pycache__", "tests", "test", "django-stubs"}

_FILES = {
    "etc/passwd": "root:x:0:0::/root:/bin/sh\nagent:x:1000:1000::/home/agent:/bin/bash\n",
    "etc/group": "root:x:0:\nagent:x:1000:\n",
    "etc/nsswitch.conf": "hosts: files\n",
}
_LINKS = {
    "bin": "usr/bin",
    "sbin": "usr/sbin",
    "lib": "usr/lib",
    "lib64": "usr/lib64",
    "usr/bin/sh": "bash",
    "usr/bin/awk": "mawk",
    f"{PYTHON}/bin/python": "python3",
}


def build_image() -> Path:
    """The archive of the image, for ``docker import``; built if it is not in the cache."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        archive = CACHE / f"{_fingerprint()}.tar"
        if not archive.exists():
            for old in CACHE.glob("*.tar*"):
                old.unlink()
            unfinished = archive.with_suffix(".tar.new")
            with tempfile.TemporaryDirectory() as folder, tarfile.open(unfinished, "w") as tar:
                _write(Path(folder), tar)
            unfinished.rename(archive)
        return archive


def load_image(host: str) -> str:
    """Have this daemon have the image; its name."""
    import docker

    archive = build_image()
    client = docker.DockerClient(base_url=host, timeout=180)
    try:
        if not client.images.list(f"{IMAGE}:{archive.stem}"):
            for old in client.images.list(IMAGE):
                client.images.remove(old.id, force=True)
            client.api.import_image_from_file(
                str(archive), repository=IMAGE, tag=archive.stem, changes=_changes()
            )
    finally:
        client.close()
    return f"{IMAGE}:{archive.stem}"


def _changes() -> list[str]:
    """How the image is to be used, as ``docker import --change`` takes it."""
    return [f"ENV PATH=/{PYTHON}/bin:/usr/bin:/bin", "ENV LANG=C.UTF-8", 'CMD ["bash"]']


def _fingerprint() -> str:
    made_of = [Path(__file__).read_text("utf-8"), sys.version, *sorted(_versions())]
    return hashlib.sha256("\n".join(made_of).encode()).hexdigest()[:16]


def _versions() -> Iterator[str]:
    for distribution in _distributions():
        yield f"{distribution.name} {distribution.version}"
    query = ["dpkg-query", "--show", *_DEBIAN_PACKAGES, "libc6"]
    yield subprocess.run(query, check=True, capture_output=True, text=True).stdout


def _write(stage: Path, tar: tarfile.TarFile) -> None:
    python = stage / PYTHON
    _stage_python(python)
    _stage_distributions(python)
    _compile(python)
    commands = list(_commands())
    shared = [path for path in stage.rglob("*") if ".so" in path.name and path.is_file()]
    libraries = _libraries([*commands, python / "bin" / "python3", *shared])
    tar.add(python, PYTHON)
    # Elsewhere it would not be found, as the program looks for it where it is on this machine.
    for library in Path(sys.base_prefix, "lib").glob("libpython*.so*"):
        tar.add(library, f"usr/lib/{library.name}")
    # Under the canonical name of its folder each, as a name must not come twice.
    placed = {_canonical(path): path for path in (*commands, *libraries)}
    for name, path in sorted(placed.items()):
        tar.add(path.resolve(), name)
    for name, target in _LINKS.items():
        if name not in placed:
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            tar.addfile(link)
    temporary = tarfile.TarInfo("tmp")
    temporary.type, temporary.mode = tarfile.DIRTYPE, 0o1777
    tar.addfile(temporary)
    for name, content in _FILES.items():
        file = tarfile.TarInfo(name)
        file.size = len(content)
        tar.addfile(file, io.BytesIO(content.encode()))


def _stage_python(python: Path) -> None:
    prefix = Path(sys.base_prefix)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    (python / "bin").mkdir(parents=True)
    shutil.copy2(prefix / "bin" / version, python / "bin" / "python3")
    library = Path(sysconfig.get_path("stdlib"))
    shutil.copytree(
        library,
        python / "lib" / version,
        ignore=lambda _, names: [n for n in names if n in _STDLIB_WITHOUT or n.endswith(".a")],
    )


def _stage_distributions(python: Path) -> None:
    (library,) = (python / "lib").glob("python3*")
    packages = library / "site-packages"
    packages.mkdir()
    # Where Debian's Python looks instead.
    (library / "dist-packages").symlink_to("site-packages")
    for distribution in _distributions():
        for file in distribution.files or ():
            if file.parts[0] == ".." or _PARTS_WITHOUT & set(file.parts):
                continue
            source = Path(str(distribution.locate_file(file)))
            target = packages / PurePosixPath(file)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def _compile(python: Path) -> None:
    # The file system is read-only in a sandbox: without these every start would compile it all.
    compileall.compile_dir(
        python,
        quiet=1,
        workers=2,
        stripdir=str(python),
        prependdir=f"/{PYTHON}",
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )


def _distributions() -> Iterator[importlib.metadata.Distribution]:
    wanted, seen = [_DISTRIBUTION], set(_DISTRIBUTIONS_WITHOUT)
    for name in wanted:
        if name.lower().replace("_", "-") in seen:
            continue
        seen.add(name.lower().replace("_", "-"))
        distribution = importlib.metadata.distribution(name)
        yield distribution
        for text in distribution.requires or ():
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                wanted.append(requirement.name)


def _commands() -> Iterator[Path]:
    listed = subprocess.run(
        ["dpkg", "-L", *_DEBIAN_PACKAGES], check=True, capture_output=True, text=True
    ).stdout.split("\n")
    for name in listed:
        path = Path(name)
        if path.parent.name in ("bin", "sbin") and path.is_file() and not path.is_symlink():
            yield path
    for name in _MORE_COMMANDS:
        found = shutil.which(name)
        if found:
            yield Path(found)


def _libraries(programs: Iterable[Path]) -> Iterator[Path]:
    """The shared libraries that the programs need, and the loader; not the programs' own."""
    listed = subprocess.run(
        ["ldd", *map(str, programs)], check=False, capture_output=True, text=True
    ).stdout
    for line in dict.fromkeys(map(str.strip, listed.split("\n"))):
        name = line.rpartition("=> ")[2].split(" (")[0]
        path = Path(name)
        system = name.startswith(("/lib", "/usr/lib"))
        if system and path.is_file():
            yield path


def _canonical(path: Path) -> str:
    return str(Path(os.path.realpath(path.parent), path.name)).lstrip("/")
