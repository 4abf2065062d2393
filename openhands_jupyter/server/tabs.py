"""The WebSocket of a browser tab: what it has open, and what it is asked to do there."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.websocket import WebSocketMixin
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from ..notebooks.delivery.tabs import Tab
from .base import JsonErrors, allowed
from .bodies import TabQuery

NOT_UNDERSTOOD = 4400
"""Code that the socket is closed with when a tab sends what no tab may send."""


class TabHandler(WebSocketMixin, WebSocketHandler, JsonErrors):
    """Connects a browser tab with `Tabs`."""

    _id: str
    _tab: Tab | None = None

    def set_default_headers(self) -> None:
        """Leave out the headers of JSON answers, which an upgrade has no use for."""

    def get_compression_options(self) -> dict[str, Any] | None:
        """The server's own choice."""
        options: dict[str, Any] | None = self.settings.get("websocket_compression_options")
        return options

    # What a tab answers is what an agent takes for the person's notebook.
    @allowed("execute", authenticated=ws_authenticated)
    async def get(self) -> None:
        """Open the socket."""
        self._id = self.query(TabQuery).tab
        await super().get()

    def open(self, *args: str, **kwargs: str) -> None:
        """Take the tab in (called by Tornado)."""
        super().open(*args, **kwargs)
        self._sending: set[asyncio.Task[None]] = set()
        self._tab = self.services.notebooks.tabs.connect(self._id, self._send)

    def on_message(self, message: str | bytes) -> None:
        """Take in what the tab sends (called by Tornado)."""
        assert self._tab
        try:
            self.services.notebooks.tabs.receive(self._tab, message)
        except msgspec.DecodeError as error:
            self.log.warning("A browser tab sent what was not understood: %s", error)
            self.close(NOT_UNDERSTOOD)

    def on_close(self) -> None:
        """Note that the connection has ended (called by Tornado)."""
        if self._tab:
            self.services.notebooks.tabs.disconnect(self._tab, self._send)
        super().on_close()

    def _send(self, frame: bytes) -> None:
        task = asyncio.create_task(self._write(frame))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _write(self, frame: bytes) -> None:
        try:
            await self.write_message(frame)
        except WebSocketClosedError:
            self.log.debug("A browser tab went away")
