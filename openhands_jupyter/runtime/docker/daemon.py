"""The Docker daemon, spoken to on threads, and its failures in plain words."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from ..launch import BackendUnavailable
from .endpoint import DEFAULT_HOST, Endpoint, find_endpoint
from .refusals import refused

if TYPE_CHECKING:
    import requests
    from docker import DockerClient

T = TypeVar("T")

PING_TIMEOUT = 5
CALL_TIMEOUT = 30
"""Seconds; creating a container on a busy machine takes some."""


class ImageMissing(BackendUnavailable):
    """The image is not on this machine.

    Parameters
    ----------
    image
        Its name.
    """

    def __init__(self, image: str) -> None:
        super().__init__(
            f"The Docker image {image} is not on this machine.",
            "It is not pulled by itself. Pull it in the settings or with "
            f"'docker pull {image}', or choose another image in the settings.",
            code="sandbox_image_missing",
        )
        self.image = image


class Daemon:
    """A connection to the daemon that the environment names, as Docker's own tools do.

    It connects with the first call, and has threads of its own: a daemon that hangs shall not
    take those that everything else uses.

    Attributes
    ----------
    endpoint
        Where the daemon is, once it was called.
    """

    def __init__(self) -> None:
        self.endpoint = Endpoint(DEFAULT_HOST)
        self._threads = ThreadPoolExecutor(4, "openhands-docker")
        self._client: DockerClient | None = None

    async def call(self, use: Callable[[DockerClient], T]) -> T:
        """Run ``use`` on a thread.

        Where the caller is cancelled, it goes on to its end there.

        Raises
        ------
        BackendUnavailable
            When the daemon cannot be used or refuses.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self.call_here, use)

    def call_here(self, use: Callable[[DockerClient], T]) -> T:
        """The same on this thread, which must not be the event loop's."""
        import docker.errors
        import requests

        try:
            return use(self._connected())
        except (docker.errors.DockerException, requests.RequestException, OSError) as error:
            raise explained(error, self.endpoint.host) from error

    def close(self) -> None:
        """Let go of the connection."""
        self._threads.shutdown(wait=False)
        if self._client is not None:
            self._client.close()

    def _connected(self) -> DockerClient:
        if self._client is None:
            from .client import Client

            self.endpoint = find_endpoint()
            self.endpoint.check()
            self._try()
            tls = self.endpoint.tls_config()
            self._client = Client(
                base_url=self.endpoint.host, tls=tls or False, timeout=PING_TIMEOUT
            )
            # Creating and starting takes longer than the question whether anybody is there.
            self._client.api.timeout = CALL_TIMEOUT
        else:
            self._try()
        return self._client

    def _try(self) -> None:
        # The SDK would leave a socket open that it could not connect.
        if self.endpoint.is_here:
            with socket.socket(socket.AF_UNIX) as probe:
                probe.settimeout(PING_TIMEOUT)
                probe.connect(self.endpoint.socket)
        else:
            socket.create_connection(self.endpoint.address, PING_TIMEOUT).close()


class Answer:
    """The next answer on a connection, which the SDK does not hand out where it is a stream.

    Parameters
    ----------
    client
        Where the call is made, while this is used as a context manager, on one thread.
    """

    def __init__(self, client: DockerClient) -> None:
        self._hooks: list[Any] = client.api.hooks["response"]
        self._response: requests.Response | None = None

    def __enter__(self) -> Answer:
        self._hooks.append(self._keep)
        return self

    def __exit__(self, *_: object) -> None:
        self._hooks.remove(self._keep)

    def stop(self) -> None:
        """Wake the thread that reads it, for which it then ends."""
        from docker.types.daemon import CancellableStream

        if self._response is not None:
            with contextlib.suppress(OSError, AttributeError):
                CancellableStream(iter(()), self._response).close()

    def close(self) -> None:
        """Let go of its connection; not while a thread reads it."""
        if self._response is not None:
            self._response.close()
            self._response = None

    def _keep(self, response: requests.Response, *_: object, **__: object) -> None:
        self._response = response


def explained(error: BaseException, host: str) -> BackendUnavailable:
    """Say what went wrong between us and the daemon, and what to do about it."""
    import docker.errors
    import requests

    causes = list(_causes(error))

    def caused_by(*kinds: type[BaseException]) -> bool:
        return any(isinstance(cause, kinds) for cause in causes)

    if isinstance(error, docker.errors.APIError) and error.response is not None:
        return refused(str(error.explanation))
    if caused_by(PermissionError):
        return BackendUnavailable(
            f"You are not allowed to use Docker ({host}).",
            "Have an administrator put you into the group 'docker' and log in again. Whoever is "
            "in it can do everything on this machine; Docker's rootless mode is safer.",
        )
    if caused_by(ssl.SSLError, requests.exceptions.SSLError):
        return BackendUnavailable(
            f"The Docker daemon's certificate or ours is refused ({host}): {error}.",
            "Look at DOCKER_CERT_PATH: it has ca.pem, cert.pem and key.pem for this daemon.",
        )
    if caused_by(FileNotFoundError, ConnectionRefusedError, socket.gaierror):
        return BackendUnavailable(
            f"No Docker daemon answers at {host}.",
            "Install and start Docker, or tell where it is with DOCKER_HOST.",
        )
    if caused_by(TimeoutError, requests.Timeout):
        return BackendUnavailable(
            f"The Docker daemon does not answer ({host}).",
            "Restart it, for example with 'sudo systemctl restart docker'.",
        )
    return BackendUnavailable(
        f"The Docker daemon cannot be used ({host}): {error}.",
        "Run 'docker info' in a terminal to see whether it works at all.",
    )


def _causes(error: object) -> Iterator[BaseException]:
    """An exception and all that it came of, which requests puts into the arguments."""
    if isinstance(error, BaseException):
        yield error
        for further in (error.__cause__, error.__context__, *error.args):
            yield from _causes(further)
