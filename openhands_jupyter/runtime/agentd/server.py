"""The channel: requests come in, answers and events go out, on one stream.

A frame is four bytes of length, most significant first, and a JSON object in UTF-8.

- request: ``{"id": 1, "method": "shell.run", "params": {…}}``
- output of a running request: ``{"id": 1, "text": "…"}``
- answer: ``{"id": 1, "result": …}`` or
  ``{"id": 1, "error": {"code", "message", "hint"}}``
- event: ``{"event": "kernel_exited", "params": {…}}``
- where no files are shared, frames of connections: see `tunnel`

The first request is ``hello``, which begins the self-test; ``selftest`` waits for what it finds.
Each request but the first has a thread of its own, so that none waits for another. The end of the
stream ends the sandbox.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading

from .confine import confine, set_limits
from .errors import ActionError
from .processes import MARK, kill_marked
from .trial import Trial

STREAMED_CHARACTERS = 1_000_000
"""Of one request; the answer holds more."""

MORE_LATER = "\n[... there is more output; it is shown when the command ends ...]\n"
"""What is said in place of further output."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, BinaryIO

    from .actions import Action, Actions
    from .relay import Relay
    from .tunnel import Tunnel

    OnText = Callable[[str], None]


class Server:
    """Serves one client until it goes.

    Parameters
    ----------
    fd
        The stream, open for reading and writing.
    unconfined
        What could not be done to confine this process, a phrase each.
    out
        What to write to, where ``fd`` is only for reading.
    """

    def __init__(self, fd: int, unconfined: list[str], out: int | None = None) -> None:
        self._fd = fd
        self._out = fd if out is None else out
        self._unconfined = unconfined
        self._sending = threading.Lock()
        self._actions: Actions | None = None
        self._trial: Trial | None = None
        self._relay: Relay | None = None
        self._tunnel: Tunnel | None = None

    def serve(self) -> None:
        """Answer requests until the stream ends, then end everything that was started."""
        with os.fdopen(os.dup(self._fd), "rb") as stream:
            while True:
                body = _read_frame(stream)
                if body is None:
                    break
                if self._tunnel is not None and body.startswith(b"\0"):
                    self._tunnel.receive(body)
                    continue
                request: dict[str, Any] = json.loads(body)
                if request["method"] == "hello":
                    self._answer(request)
                else:
                    threading.Thread(target=self._answer, args=(request,), daemon=True).start()
        self._end()

    def _answer(self, request: dict[str, Any]) -> None:
        number, method = request["id"], request["method"]
        try:
            action = self._hello if method == "hello" else self._action(method)
            result = action(request["params"], _limited(lambda text: self._text(number, text)))
        except ActionError as error:
            self._send(
                {
                    "id": number,
                    "error": {"code": error.code, "message": error.message, "hint": error.hint},
                }
            )
        except Exception as error:  # The client must get an answer to every request.
            message = f"{type(error).__name__} in {method}: {error}"
            self._send({"id": number, "error": {"code": "internal", "message": message}})
        else:
            self._send({"id": number, "result": result})
            if self._actions is not None:
                self._actions.answered(method)

    def _action(self, method: str) -> Action:
        if self._actions is None:
            raise RuntimeError("nothing is done before a hello")
        if method == "selftest" and self._trial is not None:
            trial = self._trial
            return lambda params, on_text: trial.results()
        return self._actions.find(method)

    def _hello(self, params: dict[str, Any], on_text: OnText) -> dict[str, Any]:
        folder = params.get("folder")
        if folder:
            from .tunnel import Tunnel, private_folder

            private_folder(folder, params["files"])
            self._tunnel = Tunnel(self._send_frame)
        if params.get("relay"):
            from .relay import Relay

            # Before anything that could take its port.
            self._relay = Relay(**params["relay"], on_end=self._relay_ended)
            if self._tunnel is not None:
                self._tunnel.listen(params["relay"]["path"])
        if "selftest" in params:
            self._trial = Trial(params["selftest"])
        # It goes on while this is loaded, which takes about as long.
        from .actions import Actions
        from .environment import Environment

        environment = Environment(**params.get("environment", {}))
        # Not into this process's own environment, which is on show in /proc.
        environ = {**os.environ, **params.get("secrets", {})}
        environ.update(environment.variables(environ))
        self._actions = Actions(
            params["workspace"],
            environ,
            params["scratch"],
            environment.executable,
            self._kernel_exited,
            self._relay_pids,
        )
        return {
            "pid": os.getpid(),
            "python": environment.executable,
            "without_packages": environment.problem,
            "unconfined": self._unconfined,
        }

    def _kernel_exited(self, kernel: str, code: int, log: str) -> None:
        params = {"kernel": kernel, "code": code, "log": log}
        self._send({"event": "kernel_exited", "params": params})

    def _relay_pids(self) -> set[int]:
        return self._relay.pids if self._relay is not None else set()

    def _relay_ended(self) -> None:
        self._send({"event": "relay_ended", "params": {}})

    def _text(self, number: int, text: str) -> None:
        self._send({"id": number, "text": text})

    def _send(self, message: dict[str, Any]) -> None:
        # A file name need not be valid Unicode; the frame must be.
        self._send_frame(json.dumps(message, ensure_ascii=False).encode("utf-8", "replace"))

    def _send_frame(self, body: bytes) -> None:
        data = memoryview(len(body).to_bytes(4, "big") + body)
        with self._sending, contextlib.suppress(OSError):
            while data:
                data = data[os.write(self._out, data) :]

    def _end(self) -> None:
        if self._actions is not None:
            self._actions.close()
        mark = os.environ.get(MARK)
        if mark:
            kill_marked(MARK, mark)


def _read_frame(stream: BinaryIO) -> bytes | None:
    head = stream.read(4)
    if len(head) < 4:
        return None
    size = int.from_bytes(head, "big")
    body = stream.read(size)
    return body if len(body) == size else None


def _limited(send: OnText) -> OnText:
    """Pass on output until there is too much of it; then say so once."""
    left = [STREAMED_CHARACTERS]

    def on_text(text: str) -> None:
        if left[0] <= 0:
            return
        send(text[: left[0]])
        left[0] -= len(text)
        if left[0] <= 0:
            send(MORE_LATER)

    return on_text


def _heed_signals() -> None:
    """Let commands be interrupted also where a script started the server in the background.

    Such a server ignores SIGINT and SIGQUIT, and what is ignored is inherited.
    """
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def main(fd: int, description: int | None = None) -> None:
    """Serve on ``fd``; the process is over when this returns.

    Parameters
    ----------
    fd
        The stream.
    description
        Where to read from how to confine this process, a JSON object: see `confine`, and
        ``supervised``, whether to start a supervisor first. None for no confinement.
    """
    _heed_signals()
    os.set_inheritable(fd, False)
    unconfined: list[str] = []
    if description is None:
        set_limits({})
    else:
        with open(description, encoding="utf-8") as file:
            confinement = json.load(file)
        if confinement["supervised"]:
            from .supervise import supervise

            supervise(fd)
        try:
            unconfined = confine(confinement)
        except OSError as error:
            sys.exit(error.strerror or str(error))
    Server(fd, unconfined).serve()
    os._exit(0)
