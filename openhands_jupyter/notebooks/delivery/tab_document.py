"""A notebook that is open in a browser tab."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

import msgspec

from ...errors import Conflict
from ...events.codec import well_formed
from ..addresses import with_ids
from ..changes import Applied, Change, Mismatch
from ..revisions import notebook_rev
from .document import Document, OutcomeUnknown, Snapshot, without_trust
from .tabs import SAVES_WITHIN, Tabs


class TabDocument(Document):
    """A notebook as a browser tab has it, with what is not saved.

    Parameters
    ----------
    path
        As the contents API has it.
    tabs
        The tabs.
    lock
        Held while it is changed, by whoever in this server changes it.
    """

    delivery = "tab"

    def __init__(self, path: str, tabs: Tabs, lock: asyncio.Lock) -> None:
        super().__init__(path)
        self._tabs = tabs
        self._lock = lock

    async def read(self, whole: Collection[str] | None = None) -> Snapshot:
        """The notebook as the tab has it."""
        try:
            live = await self._tabs.read(self.path, None if whole is None else list(whole))
        except OutcomeUnknown:
            raise Conflict(
                "tab_does_not_answer",
                f"The browser tab with {self.path} does not answer.",
                "Look whether it still works, and try again.",
            ) from None
        # The tab has made lean what is not wanted whole.
        cells = [without_trust(cell) for cell in with_ids(live.cells)]
        return Snapshot(
            delivery=self.delivery,
            cells=cells,
            metadata=live.metadata,
            outputs_revs=live.outputs_revs,
            nbformat=live.nbformat,
            nbformat_minor=live.nbformat_minor,
            nb_rev=notebook_rev(cells),
            state=live.state,
        )

    async def _change(self, change: Change) -> Applied | Mismatch:
        async with self._lock:
            result = await self._tabs.request(self.path, "change", change=change)
        return msgspec.json.decode(result, type=Applied | Mismatch)

    async def save(self) -> None:
        """Have the tab save it."""
        async with self._lock:
            await self._tabs.request(self.path, "save", SAVES_WITHIN)

    async def run(self, cell: str, rev: str, source: str) -> Started | Mismatch:
        """Have the tab begin to run a cell, if it has this revision and this source.

        Raises
        ------
        Conflict
            When the tab has no kernel for it, or does not have it open any more.
        OutcomeUnknown
            When it was sent, and the answer was lost.
        """
        async with self._lock:
            # Half a surrogate pair could not be sent; the tab compares without it too.
            result = await self._tabs.request(
                self.path, "run", cell=cell, rev=rev, source=well_formed(source)
            )
        return msgspec.json.decode(result, type=Started | Mismatch)

    async def landed(self, messages: list[str]) -> list[str]:
        """The messages of whose cells the tab has all outputs."""
        result = await self._tabs.request(self.path, "landed", messages=messages)
        return msgspec.json.decode(result, type=list[str])


class Started(msgspec.Struct, frozen=True, tag="started"):
    """A cell that a tab has given to a kernel, by a message with this id."""

    message: str
    kernel: str
