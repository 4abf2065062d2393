"""Every address of the API, and who answers there."""

from __future__ import annotations

import re
from typing import Any

from .agents import AgentsHandler
from .base import JsonErrors, UnknownRouteHandler
from .events import BlobHandler, EventsHandler
from .files import CheckpointsHandler, DiffHandler, RewindHandler, UndoHandler
from .health import HealthHandler
from .images import ImageHandler
from .mcp import McpConsentHandler, McpHandler, McpRestartHandler
from .models import ModelsHandler, ModelTestHandler
from .openapi import OpenApiHandler
from .pythons import PythonsHandler
from .requirements import RequirementsHandler
from .sessions import (
    ConfirmationHandler,
    DiagnosisHandler,
    DryRunHandler,
    MessagesHandler,
    PackagesHandler,
    SessionHandler,
    SessionsHandler,
    StateHandler,
)
from .settings import SecretHandler, SettingsHandler
from .stream import StreamHandler
from .tabs import TabHandler

API = "/openhands/api"

ROUTES: dict[str, type[JsonErrors]] = {
    "/health": HealthHandler,
    "/sessions": SessionsHandler,
    "/sessions/{session_id}": SessionHandler,
    "/sessions/{session_id}/messages": MessagesHandler,
    "/sessions/{session_id}/events": EventsHandler,
    "/sessions/{session_id}/confirmations/{event_id}": ConfirmationHandler,
    "/sessions/{session_id}/confirmations/{event_id}/trial": DryRunHandler,
    "/sessions/{session_id}/diagnosis": DiagnosisHandler,
    "/sessions/{session_id}/state": StateHandler,
    "/sessions/{session_id}/packages": PackagesHandler,
    "/sessions/{session_id}/checkpoints": CheckpointsHandler,
    "/sessions/{session_id}/diff": DiffHandler,
    "/sessions/{session_id}/undo": UndoHandler,
    "/sessions/{session_id}/rewind": RewindHandler,
    "/sessions/{session_id}/blobs/{sha256}": BlobHandler,
    "/sessions/{session_id}/stream": StreamHandler,
    "/settings": SettingsHandler,
    "/secrets/{name}": SecretHandler,
    "/agents": AgentsHandler,
    "/models": ModelsHandler,
    "/models/test": ModelTestHandler,
    "/mcp": McpHandler,
    "/mcp/{name}/restart": McpRestartHandler,
    "/mcp/{name}/consent": McpConsentHandler,
    "/sandbox/image": ImageHandler,
    "/sandbox/pythons": PythonsHandler,
    "/sandbox/requirements": RequirementsHandler,
    "/tabs": TabHandler,
    "/openapi.json": OpenApiHandler,
}


def handlers() -> list[tuple[str, Any]]:
    """The routes for Tornado, below the server's base URL; the last takes what is left."""
    routes: list[tuple[str, Any]] = [(pattern(path), ROUTES[path]) for path in ROUTES]
    return [*routes, (f"{API}(?:/.*)?", UnknownRouteHandler)]


def pattern(path: str) -> str:
    """A path with its parameters as a regular expression."""
    return API + re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", path.replace(".", r"\."))
