"""The API's own description, made from the types that the handlers decode and encode."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from .._version import __version__
from ..events.codec import AnyEvent
from . import answers, bodies
from .base import ApiHandler, allowed

REF = "#/components/schemas/{name}"


class Operation(NamedTuple):
    """What one method of a route takes and gives.

    Attributes
    ----------
    summary
        What it does.
    answer
        Type of the answer; None when it has no content, `bytes` for anything but JSON.
    status
        Status of a request that worked.
    body, query
        Types of what is sent.
    """

    summary: str
    answer: Any = None
    status: int = 200
    body: Any = None
    query: type[msgspec.Struct] | None = None


def operations() -> dict[tuple[str, str], Operation]:
    """Every operation, by path and method."""
    # What sessions are made of is loaded with the first session, or for this.
    from ..agents.registry import AgentInfo
    from ..events import CheckpointObservation
    from ..llm.probe import ModelReport
    from ..session import SessionInfo
    from ..session.diagnosis import Diagnosis
    from ..session.files import Changes, RestorePreview
    from ..session.mcp_status import McpStatus, ServerStatus

    sessions = msgspec.defstruct("Sessions", [("sessions", list[SessionInfo])])
    agents = msgspec.defstruct("Agents", [("agents", list[AgentInfo])])
    page = msgspec.defstruct("EventPage", [("events", list[AnyEvent]), ("last_id", int)])
    checkpoints = msgspec.defstruct("Checkpoints", [("checkpoints", list[CheckpointObservation])])
    session = "/sessions/{session_id}"
    created = answers.Created
    return {
        ("/health", "get"): Operation("What is there and what is missing", answers.Health),
        ("/sessions", "get"): Operation("All sessions, newest first", sessions),
        ("/sessions", "post"): Operation("Begin a session", SessionInfo, 201, bodies.NewSession),
        (session, "get"): Operation("How the session is", SessionInfo),
        (session, "patch"): Operation(
            "Change its title or settings", SessionInfo, body=bodies.SessionChanges
        ),
        (session, "delete"): Operation("Delete it with its log; the workspace stays", status=204),
        (f"{session}/messages", "post"): Operation(
            "Say something to the agent", created, 201, bodies.NewMessage
        ),
        (f"{session}/diagnosis", "get"): Operation("What it waits for", Diagnosis),
        (f"{session}/events", "get"): Operation("A page of events", page, query=bodies.EventsQuery),
        (f"{session}/events", "post"): Operation(
            "Add an event that is the person's to make", created, 201, bodies.ClientEvent
        ),
        (f"{session}/confirmations/{{event_id}}", "post"): Operation(
            "Approve or reject an action; 200 when it was so decided already",
            created,
            201,
            bodies.NewDecision,
        ),
        (f"{session}/confirmations/{{event_id}}/trial", "post"): Operation(
            "Try in the sandbox what waits for approval", created, 202, bodies.NewDryRun
        ),
        (f"{session}/confirmations/{{event_id}}/trial", "delete"): Operation(
            "Stop that, if it runs", status=204
        ),
        (f"{session}/state", "post"): Operation(
            "Run, pause or stop the agent", created, 202, bodies.NewCommand
        ),
        (f"{session}/packages", "get"): Operation(
            "What was installed in the workspace's sandboxes", answers.Packages
        ),
        (f"{session}/packages", "delete"): Operation("Remove what was installed", status=204),
        (f"{session}/checkpoints", "get"): Operation(
            "Checkpoints of the files, the newest first",
            checkpoints,
            query=bodies.CheckpointsQuery,
        ),
        (f"{session}/diff", "get"): Operation(
            "Paths that differ between two checkpoints, or between one and now; with a path, its "
            "text in both",
            Changes,
            query=bodies.DiffQuery,
        ),
        (f"{session}/undo", "get"): Operation(
            "What an undo would do now", RestorePreview, query=bodies.UndoQuery
        ),
        (f"{session}/undo", "post"): Operation(
            "Undo a turn's changes of files", created, 202, bodies.NewUndo
        ),
        (f"{session}/rewind", "get"): Operation(
            "What a rewind would do now", RestorePreview, query=bodies.RewindQuery
        ),
        (f"{session}/rewind", "post"): Operation(
            "Go back to before an event: its files, a new kernel, a new shell",
            created,
            202,
            bodies.NewRewind,
        ),
        (f"{session}/blobs/{{sha256}}", "get"): Operation("A payload kept beside the log", bytes),
        (f"{session}/stream", "get"): Operation(
            "WebSocket: events, live text and changes as they come",
            status=101,
            query=bodies.StreamQuery,
        ),
        ("/settings", "get"): Operation("Settings, and where they come from", answers.AllSettings),
        ("/settings", "put"): Operation(
            "Keep settings from the panel", answers.AllSettings, body=bodies.SettingsChanges
        ),
        ("/secrets/{name}", "put"): Operation("Keep a secret", status=204, body=bodies.NewSecret),
        ("/secrets/{name}", "delete"): Operation("Forget a secret", status=204),
        ("/agents", "get"): Operation("The agents to choose from", agents),
        ("/models", "get"): Operation(
            "The models to choose from", answers.Models, query=bodies.ModelsQuery
        ),
        ("/models/test", "post"): Operation(
            "Try out a model with three short calls", ModelReport, body=bodies.ModelTest
        ),
        ("/mcp", "get"): Operation(
            "The person's MCP servers, and how they are", McpStatus, query=bodies.McpPlace
        ),
        ("/mcp/{name}/restart", "post"): Operation(
            "Begin to start one anew", ServerStatus, 202, bodies.McpPlace
        ),
        ("/mcp/{name}/consent", "put"): Operation(
            "Allow one of a workspace, and say which tools run unasked",
            ServerStatus,
            body=bodies.McpConsent,
        ),
        ("/sandbox/requirements", "get"): Operation(
            "Whether what the requirements file lists is installed", answers.InstallStatus
        ),
        ("/sandbox/requirements", "post"): Operation(
            "Begin to install it", answers.InstallStatus, 202
        ),
        ("/sandbox/requirements", "delete"): Operation("Stop the installation", status=204),
        ("/sandbox/pythons", "get"): Operation(
            "The Pythons that the agent may be given", answers.Pythons
        ),
        ("/sandbox/image", "get"): Operation(
            "Whether an image will do for Docker sandboxes, or how far its pull is",
            answers.ImageStatus,
            query=bodies.ImageQuery,
        ),
        ("/sandbox/image", "post"): Operation(
            "Begin to pull an image", answers.ImageStatus, 202, bodies.NewPull
        ),
        ("/sandbox/image", "delete"): Operation(
            "Stop pulling an image", status=204, query=bodies.ImageQuery
        ),
        ("/tabs", "get"): Operation(
            "WebSocket: what a browser tab has open, and requests to it",
            status=101,
            query=bodies.TabQuery,
        ),
        ("/openapi.json", "get"): Operation("This description", dict[str, Any]),
    }


def describe(address: str) -> dict[str, Any]:
    """The OpenAPI document.

    Parameters
    ----------
    address
        What the paths are relative to.
    """
    described = operations()
    types = [kind for operation in described.values() for kind in _types(operation)]
    schemas, components = msgspec.json.schema_components([*types, answers.Error], ref_template=REF)
    schema_of = {id(kind): schema for kind, schema in zip([*types, None], schemas, strict=True)}
    paths: dict[str, dict[str, Any]] = {}
    for (path, method), operation in described.items():
        paths.setdefault(path, {})[method] = _operation(path, operation, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {"title": "OpenHands for Jupyter", "version": __version__},
        "servers": [{"url": address}],
        "paths": paths,
        "components": {"schemas": components},
    }


def _types(operation: Operation) -> Iterator[Any]:
    for kind in (operation.answer, operation.body, operation.query):
        if kind is not None and kind is not bytes:
            yield kind


def _operation(path: str, operation: Operation, schema_of: Mapping[int, Any]) -> dict[str, Any]:
    success: dict[str, Any] = {"description": "Done."}
    if operation.answer is bytes:
        success["content"] = {"*/*": {}}
    elif operation.answer is not None:
        success["content"] = _json(schema_of[id(operation.answer)])
    failure = {"description": "Not done.", "content": _json({"$ref": REF.format(name="Error")})}
    described: dict[str, Any] = {
        "summary": operation.summary,
        "parameters": [*_path_parameters(path), *_query_parameters(operation.query)],
        "responses": {str(operation.status): success, "default": failure},
    }
    if operation.body is not None:
        described["requestBody"] = {
            "required": True,
            "content": _json(schema_of[id(operation.body)]),
        }
    return described


def _json(schema: Any) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", path)
    ]


def _query_parameters(query: type[msgspec.Struct] | None) -> list[dict[str, Any]]:
    if query is None:
        return []
    properties = msgspec.json.schema(query)["$defs"][query.__name__]["properties"]
    return [{"name": name, "in": "query", "schema": properties[name]} for name in properties]


class OpenApiHandler(ApiHandler):
    """The description of the API."""

    @allowed("read")
    async def get(self) -> None:
        """The OpenAPI document."""
        self.answer(describe(self.request.path.removesuffix("/openapi.json")))
