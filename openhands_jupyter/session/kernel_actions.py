"""What the agent does with kernels of the person's: executed by the server."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable

import msgspec

from ..controller.log import error_observation
from ..errors import Conflict, Invalid, NotFound, OpenHandsError
from ..events import (
    Action,
    ErrorObservation,
    KernelCodeAction,
    KernelControlAction,
    KernelCopyAction,
    KernelInspectAction,
    KernelLookAction,
    KernelObservation,
    Masker,
    Observation,
    State,
    UserKernel,
)
from ..events.blobs import cut
from ..events.kernels import KernelRead, KernelWrite
from ..events.shown import as_data
from ..notebooks.delivery.notebooks import Notebooks
from ..notebooks.in_kernel.asking import NoAnswer, ask, inspect
from ..notebooks.in_kernel.expressions import questions
from ..notebooks.names.cell_names import names_in
from ..notebooks.running.kernels import Attachment, KernelDied, Kernels
from ..notebooks.running.planning import starts_agent
from ..notebooks.showing.environment import environment, environment_text
from ..notebooks.showing.reading import LIMIT
from ..notebooks.showing.variables import variables_text
from ..runtime.base import OutputCallback
from .kernel_code import KernelCode, kernel_busy
from .kernel_copying import KernelCopying
from .notebook_places import NotebookPlaces, out_of_workspace
from .snapshots import last_known

ANSWERS_WITHIN = 5.0
"""Seconds that an idle kernel has for an answer."""


_NAME = re.compile(r"[^\W\d][\w.]{0,199}")
"""What kernels of other languages are asked about."""


class KernelActions:
    """Executes the actions of one session on kernels of the person's.

    Parameters
    ----------
    kernels
        The kernels of the server.
    notebooks
        Gives the way to each notebook.
    places
        Maps the agent's paths.
    limit
        Seconds that code may take where the agent says nothing else.
    state
        The session, in which is what was known before.
    masker
        Knows the secrets.
    bring
        Writes a file into the sandbox: its name, its content; gives the path.
    """

    def __init__(
        self,
        kernels: Kernels,
        notebooks: Callable[[], Notebooks],
        places: NotebookPlaces,
        limit: float,
        state: State,
        masker: Masker,
        bring: Callable[[str, bytes], Awaitable[str]],
    ) -> None:
        self._copying = KernelCopying(kernels, masker, bring)
        self._state = state
        self._masker = masker
        self._kernels = kernels
        self._notebooks = notebooks
        self._places = places
        self._limit = limit

    def takes(self, action: Action) -> bool:
        """Whether an action is on a kernel of the person's."""
        return isinstance(action, KernelRead | KernelWrite)

    async def prepare(self, action: Action) -> Action | Observation:
        """Find the kernel, and what speaks against it; see `Runtime.prepare`."""
        assert isinstance(action, KernelRead | KernelWrite)
        try:
            kernel = await self._find(action.path)
            if not (isinstance(action, KernelControlAction) and action.what == "interrupt"):
                kernel = await self._kernels.settled(kernel.id)
            match action:
                case KernelCodeAction():
                    _require_python(action.path, kernel)
                    _require_no_task(action.code)
                    _require_idle(action.path, kernel)
                    await self._require_new_names(action, kernel)
                case KernelCopyAction():
                    _require_python(action.path, kernel)
                    _require_idle(action.path, kernel)
                    found = await self._copying.find(action, kernel)
                    return msgspec.structs.replace(action, kernel=kernel, found=found)
                case KernelControlAction(what="restart"):
                    lost = await self._names(kernel)
                    return msgspec.structs.replace(action, kernel=kernel, lost=lost)
                case KernelControlAction():
                    _require_busy(action.path, kernel)
                case _:
                    return action
        except KernelDied:
            return error_observation(_no_kernel(action.path))
        except OpenHandsError as error:
            return error_observation(error)
        return msgspec.structs.replace(action, kernel=kernel)

    async def run(self, action: Action, on_output: OutputCallback) -> Observation:
        """Execute an action that was prepared; see `Runtime.run_action`."""
        assert isinstance(action, KernelRead | KernelWrite)
        try:
            kernel = await self._find(action.path)
            if not (isinstance(action, KernelControlAction) and action.what == "interrupt"):
                kernel = await self._kernels.settled(kernel.id)
            match action:
                case KernelInspectAction():
                    return await self._inspect(action, kernel)
                case KernelLookAction():
                    return await self._look(action, kernel)
            _require_same(action, kernel)
            if isinstance(action, KernelControlAction):
                return await self._control(action, kernel)
            _require_idle(action.path, kernel)
            if isinstance(action, KernelCopyAction):
                return await self._copying.copy(action, kernel)
            limit = action.timeout or self._limit
            return await KernelCode(self._kernels, kernel, action, limit, on_output).run()
        except KernelDied:
            return error_observation(_no_kernel(action.path))
        except OpenHandsError as error:
            return error_observation(error)
        except asyncio.CancelledError:
            return ErrorObservation(code="stopped", message="Stopped before anything was run.")

    async def _find(self, path: str) -> UserKernel:
        """The kernel that a notebook has; none is started."""
        place = await asyncio.to_thread(self._places.find, path)
        document = await self._notebooks().open(place.path)
        if document.delivery == "disk" and not place.in_workspace:
            raise out_of_workspace(path)
        kernel = None
        opened = (n for n in self._notebooks().open_in_browser() if n.path == place.path)
        if (shown := next(opened, None)) is None:
            kernel = await self._kernels.running(place.path)
        elif shown.kernel is not None:
            kernel = await self._kernels.look(shown.kernel.id)
        if kernel is None:
            raise _no_kernel(path)
        return kernel

    async def _inspect(self, action: KernelInspectAction, kernel: UserKernel) -> Observation:
        """Have the kernel tell of variables, or say what was known before it got busy."""
        try:
            if kernel.state != "idle":
                raise NoAnswer
            attachment = await self._kernels.attach(kernel.id)
            content = await self._variables(action, kernel, attachment)
        except NoAnswer:
            path = self._places.contents_path(action.path) or ""
            known = last_known(self._state.history, action, path)
            if known is None:
                raise kernel_busy(action.path) from None
            text, at = known
            content = f"The kernel is busy. What was known at {at:%Y-%m-%d %H:%M:%S} UTC:\n{text}"
            return KernelObservation(whose="user", path=action.path, content=content, known_at=at)
        return KernelObservation(whose="user", path=action.path, content=content)

    async def _variables(
        self, action: KernelInspectAction, kernel: UserKernel, attachment: Attachment
    ) -> str:
        if kernel.language == "python":
            told = await ask(attachment, "describing", questions(action), ANSWERS_WITHIN)
            return await asyncio.to_thread(variables_text, told, self._masker)
        if not action.names:
            raise _only_names(action.path, kernel)
        if wrong := [name for name in action.names if not _NAME.fullmatch(name)]:
            # What is no name may be code in a language that nobody here knows.
            raise Invalid("not_a_name", f"{wrong[0][:80]!r} is no name of a variable.")
        texts = []
        for name in action.names:
            text = await inspect(attachment, name, min(action.depth, 1), ANSWERS_WITHIN)
            texts.append(f"{name}:\n{text or '[not known to the kernel]'}")
        return as_data(cut(self._masker.text("\n".join(texts)), LIMIT)).rstrip()

    async def _look(self, action: KernelLookAction, kernel: UserKernel) -> Observation:
        """Say what the kernel is and does; what it tells itself only while it is idle."""
        content = f"{kernel.name}, {kernel.language or 'language not known'}, {kernel.state}"
        if kernel.state == "idle" and kernel.language == "python":
            asked = {"packages": int(action.what == "packages")}
            try:
                attachment = await self._kernels.attach(kernel.id)
                told = await ask(attachment, "environment", asked, ANSWERS_WITHIN)
            except NoAnswer:
                raise kernel_busy(action.path) from None
            content += "\n" + await asyncio.to_thread(environment_text, told, self._masker)
        elif action.what == "packages":
            _require_python(action.path, kernel)
            raise kernel_busy(action.path)
        return KernelObservation(whose="user", path=action.path, content=content)

    async def _names(self, kernel: UserKernel) -> list[str] | None:
        """The person's names; None where they are not known."""
        if kernel.state != "idle" or kernel.language != "python":
            return None
        try:
            attachment = await self._kernels.attach(kernel.id)
            told = await ask(attachment, "environment", {"packages": 0}, ANSWERS_WITHIN)
        except NoAnswer:
            return None
        return environment(told).names

    async def _control(self, action: KernelControlAction, kernel: UserKernel) -> Observation:
        if action.what == "interrupt":
            await self._kernels.interrupt(kernel.id)
            content = f"The kernel of {action.path} was interrupted."
        else:
            await self._kernels.restart(kernel.id)
            content = f"The kernel of {action.path} was restarted: its variables are gone."
        return KernelObservation(whose="user", path=action.path, content=content)

    async def _require_new_names(self, action: KernelCodeAction, kernel: UserKernel) -> None:
        """Refuse code that means to change a name of the person's, which it would not do."""
        found, _ = names_in(action.code)
        bound = sorted(found.defines - set(action.keep))
        if not bound:
            return
        attachment = await self._kernels.attach(kernel.id)
        try:
            there = await ask(attachment, "existing", {"names": bound}, ANSWERS_WITHIN)
        except NoAnswer:
            raise kernel_busy(action.path) from None
        taken = [name for name in bound if isinstance(there, list) and name in there]
        if taken:
            raise Conflict(
                "names_exist",
                f"The code binds names that the user's namespace has: {', '.join(taken[:20])}. "
                "Nothing was run.",
                "Use other names, or, if the user's own are to be replaced, list them in keep.",
            )


def _require_python(path: str, kernel: UserKernel) -> None:
    if kernel.language != "python":
        raise Invalid(
            "kernel_not_python",
            f"The kernel of {path} is {kernel.name}, in which no code can be run from here.",
            "Put the code into a cell of the notebook.",
        )


def _only_names(path: str, kernel: UserKernel) -> Invalid:
    return Invalid(
        "names_needed",
        f"The kernel of {path} is {kernel.name}, whose variables cannot be listed from here.",
        "Give names: it says itself what they are.",
    )


def _require_no_task(code: str) -> None:
    if starts_agent(code):
        raise Invalid(
            "code_runs_agent",
            "The code gives OpenHands a task, which only a person may do.",
            "Do what it says yourself.",
        )


def _require_idle(path: str, kernel: UserKernel) -> None:
    if kernel.state != "idle":
        raise kernel_busy(path)


def _require_busy(path: str, kernel: UserKernel) -> None:
    if kernel.state != "busy":
        raise Conflict(
            "kernel_not_busy",
            f"The kernel of {path} is not busy, so there is nothing to interrupt.",
        )


def _require_same(action: KernelWrite, kernel: UserKernel) -> None:
    if action.kernel is None or action.kernel.id != kernel.id:
        raise Conflict(
            "kernel_changed",
            f"{action.path} has another kernel now than when you asked, so nothing was done.",
            "Try it again.",
        )


def _no_kernel(path: str) -> NotFound:
    return NotFound(
        "kernel_not_running",
        f"No kernel runs for {path}.",
        "Use the sandbox, or ask the user to start it: it is not started from here.",
    )
