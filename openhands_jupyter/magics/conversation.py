"""What one kernel's cells have in common: the session that they talk to."""

from __future__ import annotations

from uuid import uuid4


class Conversation:
    """The session that the cells of a kernel go on with.

    Attributes
    ----------
    id
        Names it before there is a session: two cells run at once shall not begin two.
    session
        Id of the session; None before the first task.
    model
        The model of its next tasks; None for the configured one.
    """

    def __init__(self) -> None:
        self.model: str | None = None
        self.reset()

    def reset(self) -> None:
        """Begin a new one with the next task."""
        self.id = uuid4().hex
        self.session: str | None = None
