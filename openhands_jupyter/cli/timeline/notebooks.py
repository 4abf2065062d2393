"""What is done with notebooks and kernels of the person's."""

from __future__ import annotations

from ...events import (
    AwaitRunAction,
    KernelCodeAction,
    KernelCodeObservation,
    KernelControlAction,
    KernelCopyAction,
    KernelCopyObservation,
    KernelInspectAction,
    KernelLookAction,
    KernelObservation,
    NotebookCreateAction,
    NotebookEditAction,
    NotebookEditObservation,
    NotebookListAction,
    NotebookObservation,
    NotebookOutlineAction,
    NotebookOutputAction,
    NotebookReadAction,
    NotebookRunAction,
    NotebookRunObservation,
    NotebookSaveAction,
    NotebookSearchAction,
    NotebookUndoAction,
    StopRunAction,
)
from .page import Page, show


@show.register
def _(event: KernelCodeAction, page: Page) -> None:
    name = f" ({event.kernel.name})" if event.kernel else ""
    page.head(event, f"Runs code in your kernel: {event.path}{name}. {event.why}".rstrip())
    page.block("> ", event.code)
    if event.keep:
        page.block("", f"Your kernel gets: {', '.join(event.keep)}", "yellow")


@show.register
def _(event: KernelControlAction, page: Page) -> None:
    verb = "Interrupts" if event.what == "interrupt" else "Restarts"
    where = f"your kernel: {event.path}" if event.whose == "user" else "the sandbox's kernel"
    page.head(event, f"{verb} {where}. {event.why}".rstrip())
    if event.lost:
        page.block("", f"Lost: {', '.join(event.lost)}", "yellow")


@show.register
def _(event: KernelCopyAction, page: Page) -> None:
    name = f" ({event.kernel.name})" if event.kernel else ""
    of = f"{event.variable} of your kernel: {event.path}{name}"
    page.head(event, f"Copies {of}. {event.why}".rstrip())
    if event.found:
        shape = " by ".join(map(str, event.found.shape)) or "a single value"
        rows = f"{event.found.rows} rows are copied ({event.sample})"
        page.block("", f"{event.found.type}, {shape}; {rows}, unmasked", "yellow")


@show.register
def _(event: KernelLookAction, page: Page) -> None:
    where = f"your kernel: {event.path}" if event.whose == "user" else "the sandbox's kernel"
    page.head(event, f"Looks at the {event.what} of {where}")


@show.register
def _(event: KernelInspectAction, page: Page) -> None:
    where = f"your kernel: {event.path}" if event.whose == "user" else "the sandbox"
    names = ", ".join(event.names) or f"all {event.query}".rstrip()
    page.head(event, f"Looks at variables in {where}: {names}")


@show.register
def _(event: NotebookListAction, page: Page) -> None:
    page.head(event, f"Lists notebooks {event.glob}".rstrip())


@show.register
def _(event: NotebookOutlineAction, page: Page) -> None:
    page.head(event, f"Looks at the notebook {event.path}")


@show.register
def _(event: NotebookReadAction, page: Page) -> None:
    cells = ", ".join(event.cells) or "all cells"
    page.head(event, f"Reads in the notebook {event.path}: {cells}")


@show.register
def _(event: NotebookSearchAction, page: Page) -> None:
    page.head(event, f"Searches the notebook {event.path}: {event.pattern}")


@show.register
def _(event: NotebookOutputAction, page: Page) -> None:
    page.head(event, f"Reads an output in the notebook {event.path}: {event.handle}")


@show.register
def _(event: NotebookEditAction | NotebookUndoAction, page: Page) -> None:
    undoes = isinstance(event, NotebookUndoAction)
    what = "Takes edits back in" if undoes else "Edits"
    page.head(event, f"{what} the notebook {event.path}. {event.why}".rstrip())
    for cell in event.cells:
        notes = f" ({'; '.join(cell.notes)})" if cell.notes else ""
        page.block("", f"{cell.id}: {cell.what}{notes}")
        if cell.before != cell.after:
            page.text("- ", cell.before, "red")
            page.text("+ ", cell.after, "green")


@show.register
def _(event: NotebookCreateAction, page: Page) -> None:
    page.head(event, f"Makes the notebook {event.path}")
    for cell in event.cells:
        page.text("+ ", cell.source, "green")


@show.register
def _(event: NotebookSaveAction, page: Page) -> None:
    page.head(event, f"Saves the notebook {event.path}")


@show.register
def _(event: NotebookRunAction, page: Page) -> None:
    where = "your kernel" if event.kernel == "user" else "the sandbox"
    page.head(event, f"Runs cells of {event.path} in {where}. {event.why}".rstrip())
    for cell in event.planned:
        page.block("", f"@{cell.position} {cell.id}")
        page.block("> ", cell.source)


@show.register
def _(event: AwaitRunAction, page: Page) -> None:
    page.head(event, f"Waits for the run {event.run}")


@show.register
def _(event: StopRunAction, page: Page) -> None:
    page.head(event, f"Stops the run {event.run}")


@show.register
def _(event: KernelCodeObservation, page: Page) -> None:
    page.outputs(event.outputs)
    end = event.interrupted or ("ok" if event.ok else "error")
    told = f"Code in your kernel ended: {end}. {event.notice}".rstrip()
    page.head(event, told, "dim" if event.ok else "red")
    if event.changed:
        page.block("", f"Bound otherwise now: {', '.join(event.changed)}", "yellow")
    page.files(event.files)


@show.register
def _(event: KernelCopyObservation, page: Page) -> None:
    page.head(event, f"Copied to {event.file}: {event.size} bytes", "dim")


@show.register
def _(event: KernelObservation, page: Page) -> None:
    first, *more = event.content.splitlines() or [""]
    told = f"Kernel: {len(more) + 1} lines read" if more else first
    page.head(event, told, "dim")


@show.register
def _(event: NotebookObservation, page: Page) -> None:
    lines = event.content.count("\n") + 1
    page.head(event, f"Notebook {event.path}: {lines} lines read", "dim")


@show.register
def _(event: NotebookEditObservation, page: Page) -> None:
    rejected = f", {len(event.rejected)} rejected" if event.rejected else ""
    told = f"Notebook {event.path}: {len(event.cells)} cells edited{rejected}"
    page.head(event, told, "dim")
    page.left(event.path, event.left)


@show.register
def _(event: NotebookRunObservation, page: Page) -> None:
    page.block("", event.content)
    page.outputs(output for cell in event.cells for output in cell.outputs)
    page.files(event.files)
    colour = "red" if event.state in ("error", "kernel_dead", "unknown") else "dim"
    page.head(event, f"Cells of {event.path}: {event.state.replace('_', ' ')}", colour)
