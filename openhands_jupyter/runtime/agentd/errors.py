"""Errors that the agent is told about."""

from __future__ import annotations


class ActionError(Exception):
    """An action that could not be done, said so that the agent can do better.

    Parameters
    ----------
    code
        Short and stable, such as ``file_not_found``.
    message
        What went wrong, as a sentence.
    hint
        What to do instead.
    """

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
