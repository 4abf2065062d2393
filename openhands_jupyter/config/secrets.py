"""API keys and other secrets: from the environment, else from a file that only its owner reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

import msgspec

from ..errors import Conflict, Invalid, NotFound
from ..events.masking import MIN_LENGTH
from .home import Home
from .problems import Problem
from .providers import GENERIC_KEY, KEY_NAMES

FILE = "secrets.json"
SecretOrigin = Literal["environment", "panel", "config.toml"]
LONGEST = 10_000
"""Characters of a secret."""
SecretValue = Annotated[str, msgspec.Meta(extra_json_schema={"minLength": 1, "maxLength": LONGEST})]
"""What `Secrets.set` takes, which says in plain words what it does not take."""

GATEWAY_TOKEN = "JUPYTER_GATEWAY_AUTH_TOKEN"
"""What opens a remote Jupyter server, by the name that jupyter_server's gateway client gave it."""

_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
NEVER_IN_SANDBOXES = frozenset({*KEY_NAMES, GATEWAY_TOKEN})
"""What this server itself opens something with."""

_CHANGES_PROGRAMS = re.compile(
    r"(LD_|PYTHON|BASH|PIP_|CONDA_|JUPYTER|IPYTHON|GIT_|LC_)|"
    r"(CDPATH|ENV|HOME|IFS|LANG|LOGNAME|PATH|PS[0-4]|PWD|SHELL|SHELLOPTS|TMPDIR|USER|VIRTUAL_ENV|"
    r"(HTTP|HTTPS|ALL|NO)_PROXY)$"
)
_LOOKS_SECRET = re.compile(r"_(API_KEY|TOKEN|SECRET|PASSWORD)$")


class Secrets:
    """The secrets known to this server; it tells their names, and values only to its own parts.

    Parameters
    ----------
    home
        Where the file is.
    environ
        The environment; it wins over the file.
    from_file
        The model's key as written in ``config.toml``; empty if it is not.
    """

    def __init__(self, home: Home, environ: Mapping[str, str], from_file: str = "") -> None:
        self._home = home
        self._environ = environ
        self._from_file = from_file
        self._masked: frozenset[str] | None = None
        self._hidden: frozenset[str] = frozenset()
        self.problems: list[Problem] = []
        try:
            self._stored = msgspec.convert(home.read_json(FILE), dict[str, str])
        except (OSError, msgspec.DecodeError) as error:
            self._stored = {}
            where = str(home.path / FILE)
            message = f"The whole file is left out: {error}."
            self.problems.append(Problem(severity="error", where=where, message=message))

    def get(self, name: str) -> str | None:
        """The secret's value; None when there is none."""
        value = self._environ.get(name) or self._stored.get(name)
        if not value and name == GENERIC_KEY:
            value = self._from_file
        return value or None

    def origins(self) -> dict[str, SecretOrigin]:
        """The names of all secrets known, each with the place that its value comes from."""
        found: dict[str, SecretOrigin] = {GENERIC_KEY: "config.toml"} if self._from_file else {}
        found |= dict.fromkeys(self._stored, "panel")
        found |= {
            name: "environment" for name in (*KEY_NAMES, GATEWAY_TOKEN) if self._environ.get(name)
        }
        return dict(sorted(found.items()))

    def set(self, name: str, value: str) -> None:
        """Keep a secret.

        Raises
        ------
        Invalid
            When the name or the value is none that a secret can have; the code says which, as
            ``secret_name`` or ``secret_value``.
        Conflict
            When the environment sets it, so that the new value would have no effect.
        HomeNotWritable
            When it cannot be kept.
        """
        if not _NAME.fullmatch(name):
            raise Invalid(
                "secret_name",
                "A secret's name is made of capital letters, digits and underscores, at most 64, "
                "and begins with a letter.",
                f"Use the name of an environment variable, such as {GENERIC_KEY}.",
            )
        if not value:
            raise Invalid("secret_value", f"{name} has no value.", "Type it, or remove the secret.")
        if len(value) > LONGEST or "\0" in value:
            raise Invalid(
                "secret_value",
                f"A secret has at most {LONGEST:,} characters, none of them the null character.",
                "What is longer can be a file in the workspace, if the agent may see it.",
            )
        if self._environ.get(name):
            raise Conflict(
                "secret_from_environment",
                f"{name} is set in the server's environment, which comes first.",
                "Change it there and restart the server.",
            )
        self._replace({**self._stored, name: value})

    def delete(self, name: str) -> None:
        """Forget a secret that was kept.

        Raises
        ------
        NotFound
            When no such secret is kept; one from elsewhere can only be removed there.
        HomeNotWritable
            When the file cannot be changed.
        """
        if name not in self._stored:
            raise NotFound(
                "secret_not_found",
                f"No secret named {name} is kept here.",
                "A secret from the environment or from config.toml is removed there.",
            )
        self._replace({key: value for key, value in self._stored.items() if key != name})

    def hide(self, *values: str) -> None:
        """Never show these values either, which are kept elsewhere."""
        self._hidden |= frozenset(values) - {""}
        self._masked = self.values() | self._hidden

    def given(self, names: Iterable[str]) -> dict[str, str]:
        """The secrets of these names that a sandbox may have, and that there still are."""
        return {name: self._stored[name] for name in names if not self.why_not(name)}

    def require_for_sandboxes(self, names: Iterable[str]) -> None:
        """Refuse to go on if one of these may not be allowed into a sandbox.

        Raises
        ------
        Invalid
            Naming the secret, and why.
        """
        for name in names:
            if why := self.why_not(name):
                raise Invalid(
                    "secret_not_for_sandbox",
                    f"The secret {name} cannot be given to the agent: {why}.",
                    "Keep one for the agent under a name of its own in the settings.",
                )

    def why_not(self, name: str) -> str:
        """Why the secret may not be allowed into a sandbox, as a phrase; empty if it may."""
        if name in NEVER_IN_SANDBOXES:
            return "it opens a model or a server, which the agent's code must not reach by itself"
        if name not in self._stored:
            return "there is none of this name in the settings"
        if _CHANGES_PROGRAMS.match(name):
            return "programs take a variable of this name for something else"
        if len(self._stored[name].strip()) < MIN_LENGTH:
            return (
                f"shorter than {MIN_LENGTH} characters, it could not be hidden in what is printed"
            )
        return ""

    def values(self) -> frozenset[str]:
        """Every value that must never be shown, those of the environment included."""
        if self._masked is None:
            environment = {v for k, v in self._environ.items() if _LOOKS_SECRET.search(k)}
            self._masked = frozenset(
                {*environment, *self._stored.values(), *self._hidden, self._from_file} - {""}
            )
        return self._masked

    def _replace(self, stored: dict[str, str]) -> None:
        self._home.write_json(FILE, stored)
        # A secret that was replaced or removed stays hidden: old output may still hold it.
        former = self.values()
        self._stored = stored
        self._masked = None
        self._masked = self.values() | former
