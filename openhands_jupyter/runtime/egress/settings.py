"""Mirrors and certificates for the programs in a sandbox, as environment variables."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from ...errors import SandboxUnavailable
from ...hosts import Rule

_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)
_CERTIFICATE_VARIABLES = (
    "CONDA_SSL_VERIFY",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "NODE_EXTRA_CA_CERTS",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_FILE",
    "npm_config_cafile",
)
_NOT_THROUGH_PROXY = "localhost,127.0.0.1"


class NetworkSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the programs in a sandbox look for packages, and whom they trust.

    What stands in these URLs, a password too, can be read by the agent.

    Attributes
    ----------
    pip_index
        URL of a package index for pip and uv, in place of the public one.
    npm_registry
        URL of a registry for npm.
    conda_channels
        URL below which conda finds channels by their names.
    ca_bundle
        A file of certificates to trust, in place of the system's.
    """

    pip_index: str = ""
    npm_registry: str = ""
    conda_channels: str = ""
    ca_bundle: str = ""

    def __post_init__(self) -> None:
        self.rules()

    def rules(self) -> list[Rule]:
        """What has to be allowed for the mirrors to be reached."""
        return [Rule.of_url(url) for url in self._mirrors()]

    def environment(self, ca_bundle: str = "") -> dict[str, str]:
        """The variables for these settings, without those for a proxy.

        Parameters
        ----------
        ca_bundle
            The path of the certificates as seen by the programs; empty for the system's.
        """
        variables = {
            "PIP_INDEX_URL": self.pip_index,
            "UV_DEFAULT_INDEX": self.pip_index,
            "npm_config_registry": self.npm_registry,
            "CONDA_CHANNEL_ALIAS": self.conda_channels,
        }
        if self.pip_index.startswith("http:"):
            # pip refuses an index without encryption unless told so, by what stands in its URL.
            variables["PIP_TRUSTED_HOST"] = urlsplit(self.pip_index).netloc.rpartition("@")[2]
        variables |= dict.fromkeys(_CERTIFICATE_VARIABLES, ca_bundle)
        return {name: value for name, value in variables.items() if value}

    def certificates(self) -> str:
        """The certificates of ``ca_bundle``, and nothing else of that file, such as a key.

        Raises
        ------
        SandboxUnavailable
            When they cannot be read.
        """
        try:
            found = _CERTIFICATE.findall(Path(self.ca_bundle).read_text("ascii", "replace"))
            if not found:
                raise ValueError("there are none in it")
            text = "\n".join([*found, ""])
            ssl.create_default_context(cadata=text)
        except (OSError, ValueError) as error:
            raise SandboxUnavailable(
                f"The certificates in {self.ca_bundle} cannot be read ({error}).",
                "Correct the CA bundle in the network settings: a text file of certificates (PEM).",
            ) from error
        return text

    def _mirrors(self) -> Iterator[str]:
        yield from filter(None, (self.pip_index, self.npm_registry, self.conda_channels))


def proxy_environment(port: int) -> dict[str, str]:
    """The variables that lead programs to a proxy on this port of their own machine."""
    proxy = f"http://127.0.0.1:{port}"
    variables = {name: proxy for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")}
    variables["NO_PROXY"] = _NOT_THROUGH_PROXY
    return variables | {name.lower(): value for name, value in variables.items()}
