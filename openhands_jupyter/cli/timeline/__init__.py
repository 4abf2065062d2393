"""Events as lines of text."""

from __future__ import annotations

from ...events import Action, AgentThinkAction, Event
from ..terminal import Terminal
from . import conversation, notebooks, session, work  # noqa: F401  They say how events are shown.
from .page import Page, show


class Timeline:
    """Prints each event as a person reads it."""

    def __init__(self, terminal: Terminal) -> None:
        self._page = Page(terminal)

    def show(self, event: Event) -> None:
        """Print one event; what matters to nobody is left out. Delegates' work is indented."""
        self._page.indent = "  | " * len(event.agent_path)
        if isinstance(event, Action) and event.thought and not isinstance(event, AgentThinkAction):
            self._page.block("", event.thought)
        show(event, self._page)
