"""What is done in the sandbox and with tools of others, and what comes of it."""

from __future__ import annotations

import msgspec

from ...agents.results import text_of
from ...events import (
    Blob,
    BrowseInteractiveAction,
    BrowserOutputObservation,
    BrowseURLAction,
    CmdOutputObservation,
    CmdRunAction,
    FileEditAction,
    FileEditObservation,
    FileGlobAction,
    FileGlobObservation,
    FileGrepAction,
    FileGrepObservation,
    FileReadAction,
    FileReadObservation,
    FileWriteAction,
    FileWriteObservation,
    IPythonOutputObservation,
    IPythonRunCellAction,
    MCPAction,
    MCPObservation,
)
from ...notebooks.showing.effects import names_text
from .page import Page, show


@show.register
def _(event: IPythonRunCellAction, page: Page) -> None:
    page.head(event, "Runs Python")
    page.block("> ", event.code)


@show.register
def _(event: MCPAction, page: Page) -> None:
    page.head(event, f"Calls {event.tool} of {event.server}, outside the sandbox")
    page.block("> ", msgspec.json.format(msgspec.json.encode(event.arguments)).decode())
    if event.where:
        page.block("", f"Server: {event.where}", "dim")


@show.register
def _(event: BrowseURLAction, page: Page) -> None:
    where = f" from character {event.start}" if event.start else ""
    page.head(event, f"Fetches {event.url}{where}")


@show.register
def _(event: BrowseInteractiveAction, page: Page) -> None:
    what = f"{event.do.replace('_', ' ')} {event.subject}".rstrip()
    page.head(event, f"In the browser: {what}")
    if event.page and not event.opens:
        page.block("", f"On {event.page}", "dim")


@show.register
def _(event: CmdRunAction, page: Page) -> None:
    if event.is_input:
        page.head(event, "Types into the running command")
        page.block("< ", event.command)
    elif event.command:
        page.head(event, "Runs a command")
        page.block("$ ", event.command)
    else:
        page.head(event, "Waits for the running command")


@show.register
def _(event: FileReadAction, page: Page) -> None:
    page.head(event, f"Reads {event.path}")


@show.register
def _(event: FileWriteAction, page: Page) -> None:
    page.head(event, f"Writes {event.path}")
    page.block("+ ", text_of(event.content), "green")
    if isinstance(event.content, Blob):
        page.block("", f"(all {event.content.size:,} bytes: blobs/{event.content.sha256})")


@show.register
def _(event: FileEditAction, page: Page) -> None:
    page.head(event, f"Edits {event.path} ({event.command})")
    if event.old_str:
        page.block("- ", event.old_str, "red")
    if event.new_str:
        page.block("+ ", event.new_str, "green")


@show.register
def _(event: FileGlobAction, page: Page) -> None:
    page.head(event, f"Finds files: {event.pattern} in {event.path}")


@show.register
def _(event: FileGrepAction, page: Page) -> None:
    include = f", files {event.include}" if event.include else ""
    page.head(event, f"Searches files: {event.pattern} in {event.path}{include}")


@show.register
def _(event: CmdOutputObservation, page: Page) -> None:
    page.block("", event.content)
    if event.running:
        page.head(event, "Command still running", "yellow")
    else:
        end = event.interrupted or f"exit code {event.exit_code}"
        page.head(event, f"Command ended: {end}", "dim" if event.exit_code == 0 else "red")
    for job in event.jobs:
        page.block("", f"Job {job.id}, pid {job.pid}, {job.status}: {job.command}", "dim")


@show.register
def _(event: IPythonOutputObservation, page: Page) -> None:
    page.outputs(event.outputs)
    page.text("", names_text(event.names), "dim")
    page.files(event.files)
    end = event.interrupted or ("ok" if event.ok else "error")
    page.head(event, f"Cell ended: {end}", "dim" if event.ok else "red")


@show.register
def _(event: MCPObservation, page: Page) -> None:
    page.outputs(event.outputs)
    end = "ok" if event.ok else "error"
    told = f"{event.tool} of {event.server} ended: {end}"
    page.head(event, told, "dim" if event.ok else "red")


@show.register
def _(event: BrowserOutputObservation, page: Page) -> None:
    page.outputs(event.outputs)
    for note in event.notes:
        page.block("", note, "yellow")
    told = f"Read {event.url}: {event.title}".rstrip(": ")
    status = "" if event.status is None else f", status {event.status}"
    page.head(event, f"{told} ({event.total} characters{status})", "dim")


@show.register
def _(event: FileReadObservation, page: Page) -> None:
    what = "folder" if event.is_dir else f"{event.total_lines} lines"
    page.head(event, f"Read {event.path}: {what}", "dim")


@show.register
def _(event: FileWriteObservation, page: Page) -> None:
    page.head(event, f"{'Created' if event.created else 'Wrote'} {event.path}", "dim")


@show.register
def _(event: FileEditObservation, page: Page) -> None:
    page.head(event, f"Changed {event.path}", "dim")


@show.register
def _(event: FileGlobObservation, page: Page) -> None:
    for file in event.files:
        page.block("", file)
    page.head(event, f"Found {event.total} files. {event.notice}".rstrip(), "dim")


@show.register
def _(event: FileGrepObservation, page: Page) -> None:
    for match in event.matches:
        page.block("", f"{match.path}:{match.line}: {match.text}")
    found = f"Found {event.total} lines in {event.files} files. {event.notice}"
    page.head(event, found.rstrip(), "dim")
