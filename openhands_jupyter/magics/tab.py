"""The page that shows the notebook: it does for a cell what needs the person's own login.

A cell's output names a task or a request; the page that draws it opens a comm with that name, is
told what it is, does it with the person's login, and tells what became of it. So the kernel needs
no address and no token, and nothing that is merely in a file can make a page do anything.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ..errors import OpenHandsError

if TYPE_CHECKING:
    from .conversation import Conversation
    from .options import Options
    from .task import Task

TARGET = "openhands-jupyter"
"""Name of the comms; as in the extension."""

MOST_KEPT = 1000
"""Tasks and requests that a page may still ask for."""

OnReply = Callable[[Any, OpenHandsError | None], None]


class Tab:
    """The kernel's end of the comms of its pages.

    Parameters
    ----------
    comms
        The kernel's manager of comms.
    conversation
        What the tasks belong to.
    """

    def __init__(self, comms: Any, conversation: Conversation) -> None:
        self._conversation = conversation
        self._kept: dict[str, _Errand] = {}
        self._lock = threading.Lock()
        comms.register_target(TARGET, self._opened)

    def offer(self, task: Task, options: Options) -> None:
        """Let the page that draws a task's output do it."""
        conversation = self._conversation
        message = {
            "type": "task",
            "id": task.id,
            "prompt": task.prompt,
            "fingerprint": task.fingerprint,
            "mode": options.mode,
            "model": options.model or conversation.model,
            "workspace": options.workspace,
            "conversation": conversation.id,
            "session": options.session or conversation.session,
            "insists": options.session is not None,
        }

        def report(data: dict[str, Any]) -> None:
            known = {name: data.get(name) for name in _UPDATED}
            task.update(**known)
            if message["conversation"] == conversation.id and task.session:
                conversation.session = task.session

        def current() -> dict[str, Any]:
            began = {"session": task.session} if task.session else {}
            return message | began | {"state": task.state, "message": task.message}

        self._keep(task.id, _Errand(current, report))

    def ask(self, verb: str, arguments: dict[str, Any], on_reply: OnReply) -> str:
        """Let the page that draws the output with the id that this gives carry out a verb."""
        id = uuid4().hex
        message = {"type": "request", "id": id, "verb": verb, "arguments": arguments}

        def report(data: dict[str, Any]) -> None:
            self._kept.pop(id, None)
            error = data.get("error")
            if error is None:
                on_reply(data.get("data"), None)
            else:
                text, hint = str(error.get("message", "")), str(error.get("hint", ""))
                on_reply(None, OpenHandsError("refused", text, hint))

        self._keep(id, _Errand(lambda: message, report))
        return id

    def _keep(self, id: str, errand: _Errand) -> None:
        with self._lock:
            self._kept[id] = errand
            while len(self._kept) > MOST_KEPT:
                self._kept.pop(next(iter(self._kept)))

    def _opened(self, comm: Any, opening: dict[str, Any]) -> None:
        """Tell a page what it drew the output of; called in whichever thread comms come in."""
        id = opening["content"]["data"].get("id")
        errand = self._kept.get(id)
        if errand is None:
            comm.send({"type": "unknown"})
            return
        errand.holder = comm.comm_id

        def told(message: dict[str, Any]) -> None:
            # The newest page counts: an older one was reloaded, or sees the same by itself.
            if errand.holder == comm.comm_id:
                errand.report(message["content"]["data"])

        comm.on_msg(told)
        comm.send(errand.describe())


class _Errand:
    """Something for a page to do: how it stands, and whom to tell of it."""

    def __init__(
        self,
        describe: Callable[[], dict[str, Any]],
        report: Callable[[dict[str, Any]], None],
    ) -> None:
        self.describe = describe
        self.report = report
        self.holder = ""


_UPDATED = ("state", "session", "message", "answer", "reason", "events")
