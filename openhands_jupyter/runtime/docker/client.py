"""Docker's SDK, which takes long to import, without what the environment says of other servers."""

from __future__ import annotations

from typing import Any

import docker


class _Api(docker.APIClient):
    @property
    def trust_env(self) -> bool:
        """Whether requests takes certificates and proxies from the environment.

        ``REQUESTS_CA_BUNDLE`` would be put in the place of the daemon's own certificates, and our
        streams pass no proxy either.
        """
        return False

    @trust_env.setter
    def trust_env(self, value: bool) -> None:
        pass

    def _retrieve_server_version(self) -> str:
        # "/version", which the SDK asks, has the daemon run a program for each of its parts.
        answer = self.get(f"{self.base_url}/_ping", timeout=self.timeout)
        answer.raise_for_status()
        return answer.headers["Api-Version"]


class Client(docker.DockerClient):
    """A client of one daemon; the arguments are ``docker.APIClient``'s."""

    def __init__(self, **arguments: Any) -> None:
        self.api = _Api(version="auto", **arguments)
