"""An agent that finds things out on the web."""

from __future__ import annotations

from . import web_tools
from .readonly import READING, ReadOnlyAgent


class BrowsingAgent(ReadOnlyAgent):
    """Reads and uses pages of the web, beside what the read-only agent reads, and answers."""

    name = "browsing"
    title = "Browsing"
    description = "Finds things out on web pages, and answers. It changes nothing here."
    template = "browsing.j2"
    tools = (*web_tools.TOOLS, *READING)
