"""What happens to the session: decisions, states, checkpoints, its sandbox."""

from __future__ import annotations

from ...agents.results import access_changed, refusal
from ...agents.warnings import seen_in_loop, used_of_limit
from ...events import (
    AgentStateChangedObservation,
    ChangeSettingsAction,
    CheckpointObservation,
    ConfirmationAction,
    ErrorObservation,
    FilesRestoredObservation,
    IsolationObservation,
    LimitWarningObservation,
    ModelNoticeObservation,
    NetworkAccessAction,
    NetworkRefusedObservation,
    NoCheckpointObservation,
    NotebookRestored,
    ReplayObservation,
    SandboxReleasedObservation,
    StuckObservation,
    UserRejectObservation,
)
from .page import Page, show

HOW_TO_LIST = "To list it, set network_rules in the section [sandbox] of config.toml."
_LEVELS = {"green": "green", "amber": "yellow", "red": "red"}


@show.register
def _(event: ChangeSettingsAction, page: Page) -> None:
    if event.agent and event.id > 0:
        page.head(event, f"Agent: {event.agent}", "cyan")


@show.register
def _(event: ConfirmationAction, page: Page) -> None:
    verb = "Approved" if event.decision == "approve" else "Rejected"
    page.head(event, f"{verb} action {event.cause}. {event.reason}".rstrip(), "cyan")


@show.register
def _(event: CheckpointObservation, page: Page) -> None:
    counts = [(event.changed, "file"), (event.cells, "cell")]
    told = [f"{count} {what}{'s' if count > 1 else ''}" for count, what in counts if count > 0]
    if told:
        page.head(event, f"This turn changed {' and '.join(told)}", "dim")


@show.register
def _(event: FilesRestoredObservation, page: Page) -> None:
    page.head(event, f"Restored {event.restored} paths, removed {event.removed}", "green")
    for left in event.conflicts:
        page.block("", f"Left alone: {left.path}: {left.reason}", "yellow")
    for failed in event.failed:
        page.block("", f"Not restored: {failed.path}: {failed.reason}", "red")
    for notebook in event.notebooks:
        _restored(page, notebook)


def _restored(page: Page, notebook: NotebookRestored) -> None:
    if notebook.problem:
        page.block("", f"Not restored: {notebook.path}: {notebook.problem}", "red")
        return
    page.block("", f"{notebook.path}: {len(notebook.cells)} cells are as before")
    page.left(notebook.path, notebook.left)


@show.register
def _(event: ReplayObservation, page: Page) -> None:
    colour = "green" if event.done == event.cells else "yellow"
    page.head(event, f"Ran {event.done} of {event.cells} cells again. {event.reason}", colour)


@show.register
def _(event: LimitWarningObservation, page: Page) -> None:
    page.head(event, f"The session has used {used_of_limit(event)}.", "yellow")


@show.register
def _(event: StuckObservation, page: Page) -> None:
    done = "The agent was stopped" if event.stopped else "The agent was told that it is stuck"
    page.head(event, f"{done}: {seen_in_loop(event)}.", "yellow")


@show.register
def _(event: NoCheckpointObservation, page: Page) -> None:
    page.head(event, f"{event.message} {event.hint}", "yellow")


@show.register
def _(event: UserRejectObservation, page: Page) -> None:
    page.head(event, "Not executed", "yellow")


@show.register
def _(event: ErrorObservation, page: Page) -> None:
    page.head(event, f"{event.message} {event.hint}".rstrip(), "red")


@show.register
def _(event: IsolationObservation, page: Page) -> None:
    text = f"Sandbox: {event.level} ({event.backend}). {event.summary} {event.notice}"
    page.head(event, text.rstrip(), _LEVELS[event.level])


@show.register
def _(event: SandboxReleasedObservation, page: Page) -> None:
    page.head(event, event.reason, "dim")


@show.register
def _(event: NetworkRefusedObservation, page: Page) -> None:
    hint = f" {HOW_TO_LIST}" if event.reason == "not_listed" else ""
    page.head(event, f"{refusal(event)}{hint}", "yellow")


@show.register
def _(event: NetworkAccessAction, page: Page) -> None:
    page.head(event, access_changed(event), "cyan")


@show.register
def _(event: AgentStateChangedObservation, page: Page) -> None:
    if event.retry_in is not None:
        when = f"It is asked again in {event.retry_in:.0f} seconds."
        page.head(event, f"{event.reason} {when}", "yellow")
    elif event.code:
        page.head(event, f"{event.reason} {event.hint}".rstrip(), "red")


@show.register
def _(event: ModelNoticeObservation, page: Page) -> None:
    page.head(event, f"{event.message} {event.hint}".rstrip(), "yellow")
