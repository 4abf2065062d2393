"""What all handlers share: typed bodies in, JSON out, and errors that a person can act on."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable
from functools import cached_property
from http import HTTPStatus
from logging import Logger
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec
from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler, JupyterHandler
from tornado import web

from ..config import Config, Isolation
from ..errors import Invalid, NotFound, OpenHandsError
from ..events import Event
from ..notebooks.delivery.notebooks import Notebooks
from ..notebooks.running.driving import Runs
from ..notebooks.running.kernels import Kernels
from .answers import Error, SandboxHealth

if TYPE_CHECKING:
    from ..runtime.docker.pulls import Pulls
    from ..runtime.kernel_host import MakeHost
    from ..session import Session, SessionManager
    from ..session.requirements import Installation

AUTH_RESOURCE = "openhands"
MAX_BODY = 4 * 1024 * 1024
"""Bytes; a message or a setting never needs more."""

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

_CANNOT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES)

_NAMED_FIELD = re.compile(r"field `([^`]+)`|at `\$\.?([^`\[]+)[^`]*`")


def allowed(
    action: Literal["read", "write", "execute"],
    authenticated: Callable[[Any], Any] = web.authenticated,
) -> Callable[[F], F]:
    """Let a verb be used only by people who are known and may do this (a decorator).

    Parameters
    ----------
    action
        What the server's authorizer is asked about.
    authenticated
        Jupyter's check of who it is.
    """

    def decorate(method: F) -> F:
        checked: F = authenticated(authorized(action)(method))
        return checked

    return decorate


class InvalidField(Invalid):
    """A request whose body or query does not fit, with the field that is wrong."""

    def __init__(self, code: str, message: str, field: str, hint: str = "") -> None:
        super().__init__(code, message, hint)
        self.field = field


class Services:
    """What the handlers work with, made once per server.

    Parameters
    ----------
    config
        The settings.
    log
        The server's log.
    on_event
        Told every event of every open session.
    notebooks
        The way to each notebook of the server.
    runs
        The cells of notebooks that are run.
    make_host
        Makes where a session's kernel is shown to the person; None for nowhere.
    kernels
        The kernels of notebooks; None for none.

    Attributes
    ----------
    gone
        Ids of the sessions that were, or are being, deleted.
    working_sandboxes
        What was found when a sandbox was tried, by isolation; only of those that worked.
    """

    def __init__(
        self,
        config: Config,
        log: Logger,
        on_event: Callable[[Event], None],
        notebooks: Notebooks,
        runs: Runs,
        make_host: MakeHost | None = None,
        kernels: Kernels | None = None,
    ) -> None:
        self.config = config
        self.notebooks = notebooks
        self.runs = runs
        self.log = log
        self._on_event = on_event
        self._make_host = make_host
        self.kernels = kernels
        self.gone: set[str] = set()
        self.working_sandboxes: dict[Isolation, SandboxHealth] = {}

    @cached_property
    def sessions(self) -> SessionManager:
        """The sessions; what runs them is loaded when the first person asks for one."""
        from ..session import SessionManager

        return SessionManager(
            self.config,
            log=self.log,
            on_event=self._on_event,
            make_host=self._make_host,
            notebooks=self.notebooks,
            kernels=self.kernels,
            runs=self.runs,
        )

    @cached_property
    def pulls(self) -> Pulls:
        """The pulls of Docker images that people asked for."""
        from ..runtime.docker.pulls import Pulls

        return Pulls()

    def settings_changed(self) -> None:
        """Let the open sessions know that the settings are others now."""
        if "sessions" in self.__dict__:
            self.sessions.settings_changed()

    @cached_property
    def installation(self) -> Installation:
        """The installation of what the requirements file lists."""
        from ..session.requirements import Installation

        return Installation(self.config)

    async def close(self) -> None:
        """Close all sessions, stop all pulls and the installation, if there ever were any."""
        await self.runs.close()
        self.notebooks.close()
        if "installation" in self.__dict__:
            await self.installation.cancel()
        if "pulls" in self.__dict__:
            await self.pulls.close()
        if "sessions" in self.__dict__:
            await self.sessions.close()


class JsonErrors(JupyterHandler):
    """Answers every error as ``{"code", "message", "hint"}``, with ``field`` for a bad request."""

    auth_resource = AUTH_RESOURCE

    @property
    def services(self) -> Services:
        """What the handlers work with."""
        services: Services = self.settings["openhands"]
        return services

    async def session(self, session_id: str) -> Session:
        """The session with this id, loaded if need be.

        Raises
        ------
        NotFound
            When there is none.
        Conflict
            When another process has it open.
        """
        if session_id in self.services.gone:
            raise NotFound(
                "session_not_found",
                "There is no such session.",
                "It may have been deleted; choose one from the list.",
            )
        return await self.services.sessions.open(session_id)

    def query(self, kind: type[T]) -> T:
        """The query of the request as a struct; what it does not know is left out.

        Raises
        ------
        InvalidField
            When a value does not fit.
        """
        info = msgspec.inspect.type_info(kind)
        assert isinstance(info, msgspec.inspect.StructType)
        given: dict[str, Any] = {}
        for field in info.fields:
            texts = self.get_query_arguments(field.encode_name)
            if texts:
                many = isinstance(field.type, msgspec.inspect.ListType)
                given[field.encode_name] = texts if many else texts[-1]
        try:
            return msgspec.convert(given, kind, strict=False)
        except msgspec.ValidationError as error:
            raise _invalid(error) from error

    def log_exception(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Log faults of ours with their traceback, and errors of others without."""
        if isinstance(error, OpenHandsError):
            self.log.info("%s: %s", error.code, error.message)
        else:
            super().log_exception(kind, error, traceback)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Answer an error (called by Tornado)."""
        error = kwargs.get("exc_info", (None, None, None))[1]
        match error:
            case OpenHandsError():
                status_code = error.status
                reply = Error(code=error.code, message=error.message, hint=error.hint)
                if isinstance(error, InvalidField):
                    reply = msgspec.structs.replace(reply, field=error.field)
            case OSError() if error.errno in _CANNOT_WRITE:
                status_code = 507
                reply = Error(
                    code="cannot_write",
                    message=f"The session's log cannot be written: {error.strerror}.",
                    hint=f"Make room, or make {self.services.config.home} writable.",
                )
            case web.HTTPError():
                phrase = HTTPStatus(status_code).phrase
                code = phrase.lower().replace(" ", "_").replace("-", "_")
                message = (error.log_message or phrase) % (error.args or ())
                reply = Error(code=code, message=message)
            case _:
                reply = Error(
                    code="internal_error",
                    message="Something went wrong inside the server.",
                    hint="The server's log says more.",
                )
        self.set_status(status_code)
        self.set_header("Content-Type", "application/json")
        self.finish(msgspec.json.encode(reply))


class ApiHandler(JsonErrors, APIHandler):
    """A handler of the REST API."""

    def body(self, kind: type[T]) -> T:
        """The body of the request, decoded; an empty one counts as ``{}``.

        Raises
        ------
        InvalidField
            When it does not fit; the message says what was expected.
        Invalid
            When it is not JSON.
        """
        content = self.request.body
        if len(content) > MAX_BODY:
            raise web.HTTPError(413, "The request is too large.")
        try:
            return msgspec.json.decode(content or b"{}", type=kind)
        except msgspec.ValidationError as error:
            raise _invalid(error) from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Invalid("not_json", f"The request is not JSON: {error}.") from error

    def answer(self, value: Any, status: int = 200) -> None:
        """Finish with a value as JSON."""
        self.set_status(status)
        self.finish(msgspec.json.encode(value))

    def answer_nothing(self) -> None:
        """Finish with 204."""
        self.set_status(204)
        self.finish()


class UnknownRouteHandler(ApiHandler):
    """Whatever is under the API's address and is not a route."""

    async def prepare(self, **kwargs: Any) -> None:
        """Refuse, after the checks that every request goes through."""
        await super().prepare(**kwargs)
        raise NotFound("route_not_found", "The API has no such address.", "See openapi.json.")


def _invalid(error: msgspec.ValidationError) -> InvalidField:
    text = str(error)
    found = _NAMED_FIELD.search(text)
    field = next(filter(None, found.groups()), "") if found else ""
    return InvalidField("invalid_field", f"{text}.", field)
