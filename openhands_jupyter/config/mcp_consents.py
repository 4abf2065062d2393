"""What the person allows MCP servers: kept in the home folder, never taken from a workspace."""

from __future__ import annotations

import msgspec

from ..mcp.config import Trust
from .home import Home

FILE = "mcp_consents.json"


class Consent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was allowed one server.

    Attributes
    ----------
    name, digest
        The server, and its definition when this was allowed: another one has to be allowed anew.
    workspace
        The folder that names it; empty for a server of the person's own.
    use
        Whether it may be used, for one of a workspace.
    trust
        Which of its tools are called without asking; None for what the configuration says.
    """

    name: str
    digest: str
    workspace: str = ""
    use: bool = False
    trust: Trust | None = None

    @property
    def subject(self) -> tuple[str, str, str]:
        """What it is about."""
        return self.name, self.digest, self.workspace


class Consents:
    """All that was allowed, in memory as it was read or kept last.

    Parameters
    ----------
    home
        Where it is kept.
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self._known: dict[tuple[str, str, str], Consent] = {}

    def load(self) -> list[str]:
        """Read what is kept; takes time.

        Returns
        -------
        list of str
            A sentence where the file cannot be read: nothing counts as allowed then.
        """
        try:
            content = self._home.read_json(FILE).get("servers", [])
            found = msgspec.convert(content, list[Consent])
        except (OSError, msgspec.MsgspecError) as error:
            self._known = {}
            return [f"{self._home.path / FILE} is left out: {error}."]
        self._known = {one.subject: one for one in found}
        return []

    def find(self, name: str, digest: str, workspace: str) -> Consent:
        """What was allowed a server; nothing, where nothing is known of it."""
        empty = Consent(name=name, digest=digest, workspace=workspace)
        return self._known.get(empty.subject, empty)

    def keep(self, consent: Consent) -> None:
        """Keep what was allowed, beside all else that other servers kept meanwhile; takes time.

        Raises
        ------
        HomeNotWritable
            When it cannot be kept; nothing has changed then.
        """
        self.load()
        known = self._known | {consent.subject: consent}
        if not consent.use and consent.trust is None:
            del known[consent.subject]
        self._home.write_json(FILE, {"servers": list(known.values())})
        self._known = known
