"""Images: what is missing in one, and pulling one when a person asks for it."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ..launch import BackendUnavailable
from .daemon import Answer, Daemon, ImageMissing
from .endpoint import Endpoint
from .engine import Engine
from .sweep import labels

if TYPE_CHECKING:
    from docker import DockerClient

OLDEST_PYTHON = (3, 8)
CHECK_TIMEOUT = 60
"""Seconds; the first container of an image starts slowly."""

HOW_TO_BUILD = (
    "Build an image that has them, with a Dockerfile such as: FROM python:3.12-slim, "
    "RUN pip install ipykernel. See docs/docker.md."
)

# For any Python, however old.
_PROBE = """
import json, sys
found = {"python": list(sys.version_info[:3])}
try:
    import ipykernel
    found["ipykernel"] = ipykernel.__version__
except Exception as error:
    found["error"] = "%s: %s" % (type(error).__name__, error)
print(json.dumps(found))
"""
_SHELL = 'command -v bash >&2 || exit 3; exec python3 -c "$1"'


class ImageReport(msgspec.Struct, frozen=True):
    """What was found in an image.

    Attributes
    ----------
    image
        Its name.
    python, ipykernel
        Their versions; empty where they are missing.
    missing
        What a sandbox needs and this image does not have, a phrase each.
    """

    image: str
    python: str = ""
    ipykernel: str = ""
    missing: list[str] = []

    @property
    def hint(self) -> str:
        """What to do about it; empty if nothing is missing."""
        return HOW_TO_BUILD if self.missing else ""


class PullProgress(msgspec.Struct, frozen=True):
    """How far a pull is.

    Attributes
    ----------
    status
        What the daemon does, in its words.
    done, total
        Bytes of the layers whose size is known by now; both grow.
    """

    status: str
    done: int = 0
    total: int = 0


async def check_image(image: str) -> ImageReport:
    """Look into an image, in a container of its own without any rights.

    Raises
    ------
    ImageMissing
        When it is not on this machine.
    BackendUnavailable
        When the daemon cannot be used.
    """
    daemon = Daemon()
    try:
        code, output = await daemon.call(lambda client: _probed(client, image, daemon.endpoint))
    finally:
        daemon.close()
    return _report(image, code, output)


async def pull_image(image: str, on_progress: Callable[[PullProgress], None]) -> None:
    """Pull an image. To stop it, cancel the task.

    Parameters
    ----------
    image
        Its name; without a tag, the one that is called ``latest``.
    on_progress
        Told on the event loop how far it is.

    Raises
    ------
    BackendUnavailable
        When the daemon cannot be used, or cannot get the image.
    """
    loop = asyncio.get_running_loop()
    daemon = Daemon()

    def tell(progress: PullProgress) -> None:
        loop.call_soon_threadsafe(on_progress, progress)

    pull = _Pull(image, tell)
    try:
        await daemon.call(pull.run)
    finally:
        pull.stop()
        daemon.close()


class _Pull:
    """A pull that runs on a thread."""

    def __init__(self, image: str, on_progress: Callable[[PullProgress], None]) -> None:
        self._image = image
        self._on_progress = on_progress
        self._layers: dict[str, tuple[int, int]] = {}
        self._answer: Answer | None = None
        self._stopped = False

    def run(self, client: DockerClient) -> None:
        import docker.errors

        repository, tag = _parts(self._image)
        self._answer = Answer(client)
        try:
            with self._answer:
                lines: Iterable[dict[str, Any]] = client.api.pull(
                    repository, tag=tag, stream=True, decode=True
                )
            for line in lines:
                if self._stopped:
                    return
                if "error" in line:
                    raise _not_pulled(self._image, str(line["error"]))
                self._on_progress(self._progress(line))
        except docker.errors.APIError as error:
            raise _not_pulled(self._image, str(error.explanation)) from error
        except OSError:
            if not self._stopped:
                raise
        finally:
            self._answer.close()

    def stop(self) -> None:
        """Hang up, upon which the daemon stops too."""
        self._stopped = True
        if self._answer is not None:
            self._answer.stop()

    def _progress(self, line: dict[str, Any]) -> PullProgress:
        detail = line.get("progressDetail") or {}
        if line.get("status") == "Downloading" and "total" in detail:
            self._layers[line["id"]] = detail["current"], detail["total"]
        elif line.get("id") in self._layers:
            _, total = self._layers[line["id"]]
            self._layers[line["id"]] = total, total
        done, total = map(sum, zip(*self._layers.values(), strict=True)) if self._layers else (0, 0)
        return PullProgress(str(line.get("status", "")), done, total)


def _parts(image: str) -> tuple[str, str | None]:
    """Repository and tag, so that never all tags are pulled."""
    name, _, tag = image.rpartition(":")
    if "@" in image:
        return image, None
    return (name, tag) if name and "/" not in tag else (image, "latest")


def _not_pulled(image: str, why: str) -> BackendUnavailable:
    return BackendUnavailable(
        f"The image {image} cannot be pulled: {why.strip().rstrip('.')}.",
        "Check its name, the network of the Docker daemon, and 'docker login' if it is private.",
    )


def _probed(client: DockerClient, image: str, endpoint: Endpoint) -> tuple[int, str]:
    import docker.errors
    import requests

    host_config = client.api.create_host_config(
        network_mode="none", read_only=True, cap_drop=["ALL"], security_opt=["no-new-privileges"]
    )
    try:
        created = client.api.create_container(
            image,
            entrypoint=["sh"],
            command=["-c", _SHELL, "sh", _PROBE],
            # Where an ordinary user runs the daemon, there need not be any other number.
            user="0:0" if Engine.at(endpoint, client).rootless else "65534:65534",
            # Swept after a server that was killed meanwhile.
            labels=labels(Path(tempfile.gettempdir())),
            host_config=host_config,
        )
    except docker.errors.ImageNotFound as error:
        raise ImageMissing(image) from error
    try:
        client.api.start(created["Id"])
        ended = client.api.wait(created["Id"], timeout=CHECK_TIMEOUT)
        return int(ended["StatusCode"]), client.api.logs(created["Id"], stderr=False).decode()
    except requests.Timeout as error:
        raise BackendUnavailable(f"The Docker image {image} does not start.") from error
    except docker.errors.APIError as error:
        if "executable file not found" in str(error.explanation):
            return 4, ""
        raise
    finally:
        client.api.remove_container(created["Id"], v=True, force=True)


def _report(image: str, code: int, output: str) -> ImageReport:
    if code in (3, 4):
        return ImageReport(image, missing=["bash" if code == 3 else "a shell (bash)"])
    try:
        found = json.loads(output)
    except ValueError:
        return ImageReport(image, missing=["a python3 that works"])
    version = ".".join(map(str, found["python"]))
    missing = []
    if tuple(found["python"]) < OLDEST_PYTHON:
        missing.append(f"Python {'.'.join(map(str, OLDEST_PYTHON))} or newer (it has {version})")
    if "ipykernel" not in found:
        missing.append(f"ipykernel ({found['error']})")
    return ImageReport(image, version, found.get("ipykernel", ""), missing)
