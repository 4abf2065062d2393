"""The events of a session: pages of the log, what a client may add, and the blobs beside it."""

from __future__ import annotations

import asyncio

import msgspec

from ..errors import NotFound
from ..events.codec import TYPES
from .answers import Created
from .base import ApiHandler, InvalidField, allowed
from .bodies import (
    ClientCommand,
    ClientDecision,
    ClientEvent,
    ClientMessage,
    ClientNetworkAccess,
    EventsQuery,
    decisions_of,
)
from .context import as_events

CHUNK = 1024 * 1024
CLIENT_TYPES = (
    "UserMessageAction",
    "ConfirmationAction",
    "ChangeAgentStateAction",
    "NetworkAccessAction",
)
_IMAGES = (
    (b"\x89PNG\r\n\x1a\n", 0, "image/png"),
    (b"\xff\xd8\xff", 0, "image/jpeg"),
    (b"GIF87a", 0, "image/gif"),
    (b"GIF89a", 0, "image/gif"),
    (b"WEBP", 8, "image/webp"),
)


class EventsHandler(ApiHandler):
    """The log of a session."""

    @allowed("read")
    async def get(self, session_id: str) -> None:
        """A page of events."""
        query = self.query(EventsQuery)
        for name in query.type:
            if name not in TYPES:
                raise InvalidField("unknown_event_type", f"No event is a “{name}”.", "type")
        stream = (await self.session(session_id)).stream
        lines = await asyncio.to_thread(
            stream.read_raw,
            after=query.after,
            before=query.before,
            limit=query.limit,
            order=query.order,
            types=query.type or None,
        )
        self.finish(b'{"events":[%b],"last_id":%d}' % (b",".join(lines), stream.last_id))

    @allowed("execute")
    async def post(self, session_id: str) -> None:
        """Add an event of a kind that is the person's to make."""
        self._refuse_other_kinds()
        event: ClientEvent = self.body(ClientEvent)  # type: ignore[arg-type]
        session = await self.session(session_id)
        status = 201
        match event:
            case ClientMessage():
                id = session.send_message(event.content, as_events(event.context))
            case ClientDecision():
                id, new = session.confirm(
                    event.cause, event.decision, event.reason, decisions_of(event)
                )
                status = 201 if new else 200
            case ClientCommand():
                id = session.command(event.command)
            case ClientNetworkAccess():
                id = session.network.change(event.host, event.port, event.access)
        self.answer(Created(id=id), status)

    def _refuse_other_kinds(self) -> None:
        """Refuse before all else what only the agent and the environment may put on the log."""
        kind = self.body(_Kind).type
        hint = f"A client may add {', '.join(CLIENT_TYPES[:-1])} and {CLIENT_TYPES[-1]}."
        if kind in TYPES and kind not in CLIENT_TYPES:
            raise InvalidField(
                "not_a_client_event", f"A client may not add a {kind}.", "type", hint
            )
        if kind not in TYPES:
            raise InvalidField("unknown_event_type", f"No event is a “{kind}”.", "type", hint)


class _Kind(msgspec.Struct):
    """The type of an event, before anything else of it is looked at."""

    type: str


class BlobHandler(ApiHandler):
    """A payload kept beside the log.

    It may hold anything that the agent's code printed, so a browser must never run it: what is
    not seen to be a bitmap is only ever downloaded.
    """

    @property
    def content_security_policy(self) -> str:
        """Nothing in it may load or run anything, even when it is opened by itself."""
        return "sandbox; default-src 'none'"

    @allowed("read")
    async def get(self, session_id: str, sha256: str) -> None:
        """The bytes."""
        blobs = (await self.session(session_id)).stream.blobs
        try:
            content = await asyncio.to_thread(blobs.get, sha256)
        except FileNotFoundError as error:
            raise NotFound("blob_not_found", "There is no such payload.") from error
        media_type = image_type(content)
        if media_type is None:
            media_type = "application/octet-stream"
            self.set_header("Content-Disposition", f'attachment; filename="{sha256[:12]}"')
        self.set_header("X-Content-Type-Options", "nosniff")
        # Named by its content, so it never changes.
        self.set_header("Cache-Control", "private, max-age=31536000, immutable")
        self.set_header("Content-Type", media_type)
        for start in range(0, len(content), CHUNK):
            self.write(content[start : start + CHUNK])
            await self.flush()
        self.finish(set_content_type=media_type)

    def compute_etag(self) -> None:
        """None: the address is the hash already."""


def image_type(content: bytes) -> str | None:
    """The media type of a bitmap image, by its first bytes; None for anything else."""
    for magic, offset, media_type in _IMAGES:
        if content.startswith(magic, offset):
            return media_type
    return None
