"""Errors that a person can act on; every other exception is a fault of ours."""

from __future__ import annotations


class OpenHandsError(Exception):
    """Something that went wrong, said so that a person knows what to do.

    Parameters
    ----------
    code
        Short and stable, such as ``session_not_found``.
    message
        What went wrong, as a sentence, without secrets.
    hint
        What to do about it.
    """

    status = 500
    """HTTP status that the API answers with."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint


class NotFound(OpenHandsError):
    """What was asked for does not exist."""

    status = 404


class Conflict(OpenHandsError):
    """It cannot be done in the present state, such as a decision that was already taken."""

    status = 409


class Invalid(OpenHandsError):
    """The request is understood but its content is not acceptable."""

    status = 422


class SandboxUnavailable(OpenHandsError):
    """The sandbox could not be started."""

    status = 503

    def __init__(self, message: str, hint: str = "", code: str = "sandbox_unavailable") -> None:
        super().__init__(code, message, hint)


class ModelError(OpenHandsError):
    """A model call that failed.

    Parameters
    ----------
    code
        ``model_auth``, ``model_unreachable``, ``model_not_found``, ``model_rate_limited``,
        ``model_quota``, ``model_unavailable``, ``model_timeout``, ``model_bad_request``,
        ``model_no_images``, ``model_context``, ``model_cut_off``, ``model_gateway`` or
        ``model_error``.
    message, hint
        As in `OpenHandsError`.
    retry_after
        Seconds after which the provider says it may be tried again; None if it says nothing.
    """

    status = 502

    def __init__(
        self, code: str, message: str, hint: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(code, message, hint)
        self.retry_after = retry_after
