"""Events as lines of text."""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatchmethod

import msgspec

from ..agents.results import access_changed, refusal, text_of
from ..agents.skills.telling import skill_given
from ..agents.warnings import seen_in_loop, used_of_limit
from ..events import (
    Action,
    AgentDelegateAction,
    AgentDelegateObservation,
    AgentMessageAction,
    AgentStateChangedObservation,
    AgentThinkAction,
    AwaitRunAction,
    Blob,
    BrowserOutputObservation,
    BrowseURLAction,
    ChangeSettingsAction,
    CheckpointObservation,
    CmdOutputObservation,
    CmdRunAction,
    CondensationAction,
    ConfirmationAction,
    ErrorObservation,
    Event,
    FileEditAction,
    FileEditObservation,
    FileGlobAction,
    FileGlobObservation,
    FileGrepAction,
    FileGrepObservation,
    FileReadAction,
    FileReadObservation,
    FilesRestoredObservation,
    FileWriteAction,
    FileWriteObservation,
    FinishAction,
    HookObservation,
    InvalidToolCallAction,
    IPythonOutputObservation,
    IPythonRunCellAction,
    IsolationObservation,
    KernelCodeAction,
    KernelCodeObservation,
    KernelControlAction,
    KernelCopyAction,
    KernelCopyObservation,
    KernelInspectAction,
    KernelLookAction,
    KernelObservation,
    LeftCell,
    LimitWarningObservation,
    MCPAction,
    MCPObservation,
    ModelNoticeObservation,
    NetworkAccessAction,
    NetworkRefusedObservation,
    NoCheckpointObservation,
    NotebookCreateAction,
    NotebookEditAction,
    NotebookEditObservation,
    NotebookListAction,
    NotebookObservation,
    NotebookOutlineAction,
    NotebookOutputAction,
    NotebookReadAction,
    NotebookRestored,
    NotebookRunAction,
    NotebookRunObservation,
    NotebookSaveAction,
    NotebookSearchAction,
    NotebookUndoAction,
    Output,
    PlanHandOverAction,
    PlanHandOverObservation,
    QuarantineAction,
    RejectAction,
    ReplayObservation,
    SandboxReleasedObservation,
    SkillObservation,
    SkillsObservation,
    StopRunAction,
    StuckObservation,
    TaskTrackingAction,
    TouchedFiles,
    UserMessageAction,
    UserRejectObservation,
    UseSkillAction,
)
from ..notebooks.showing.effects import files_text, names_text
from .terminal import Terminal, inert

_MARKS = {"todo": "[ ]", "in_progress": "[>]", "done": "[x]"}
_LEVELS = {"green": "green", "amber": "yellow", "red": "red"}


HOW_TO_LIST = "To list it, set network_rules in the section [sandbox] of config.toml."


class Timeline:
    """Prints each event as a person reads it."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._indent = ""

    def show(self, event: Event) -> None:
        """Print one event; what matters to nobody is left out. Delegates' work is indented."""
        self._indent = "  | " * len(event.agent_path)
        if isinstance(event, Action) and event.thought and not isinstance(event, AgentThinkAction):
            self._block("", event.thought)
        self._show(event)

    def _head(self, event: Event, text: str, colour: str = "bold") -> None:
        self._terminal.print(f"{event.id:>4}  {self._indent}{inert(text)}", colour)

    def _block(self, mark: str, text: str, colour: str = "") -> None:
        for line in inert(text).rstrip("\n").split("\n"):
            self._terminal.print(f"      {self._indent}{mark}{line}", colour)

    @singledispatchmethod
    def _show(self, event: Event) -> None:
        """Events that have no line of their own."""

    @_show.register
    def _(self, event: UserMessageAction) -> None:
        self._head(event, f"You: {event.content}", "cyan")

    @_show.register
    def _(self, event: AgentMessageAction) -> None:
        self._head(event, "Agent:")
        self._block("", event.content)
        for number, option in enumerate(event.options, 1):
            self._block(f"{number}. ", option)
        if event.notice:
            self._block("", event.notice, "yellow")

    @_show.register
    def _(self, event: AgentDelegateAction) -> None:
        self._head(event, f"Gives a task to {event.agent}:")
        self._block("", event.task)

    @_show.register
    def _(self, event: AgentDelegateObservation) -> None:
        end = "is done" if event.status == "finished" else "declined the task"
        self._head(event, f"{event.agent} {end}", "dim")
        self._block("", event.content)

    @_show.register
    def _(self, event: PlanHandOverAction) -> None:
        self._head(event, f"Asks to hand the plan in {event.path} to {event.agent}")
        self._block("", event.plan)

    @_show.register
    def _(self, event: PlanHandOverObservation) -> None:
        self._head(event, f"Agent: {event.agent}, with the plan in {event.path}", "cyan")

    @_show.register
    def _(self, event: ChangeSettingsAction) -> None:
        if event.agent and event.id > 0:
            self._head(event, f"Agent: {event.agent}", "cyan")

    @_show.register
    def _(self, event: AgentThinkAction) -> None:
        self._head(event, "Thinks", "dim")
        self._block("", event.thought, "dim")

    @_show.register
    def _(self, event: IPythonRunCellAction) -> None:
        self._head(event, "Runs Python")
        self._block("> ", event.code)

    @_show.register
    def _(self, event: KernelCodeAction) -> None:
        name = f" ({event.kernel.name})" if event.kernel else ""
        self._head(event, f"Runs code in your kernel: {event.path}{name}. {event.why}".rstrip())
        self._block("> ", event.code)
        if event.keep:
            self._block("", f"Your kernel gets: {', '.join(event.keep)}", "yellow")

    @_show.register
    def _(self, event: KernelControlAction) -> None:
        verb = "Interrupts" if event.what == "interrupt" else "Restarts"
        where = f"your kernel: {event.path}" if event.whose == "user" else "the sandbox's kernel"
        self._head(event, f"{verb} {where}. {event.why}".rstrip())
        if event.lost:
            self._block("", f"Lost: {', '.join(event.lost)}", "yellow")

    @_show.register
    def _(self, event: MCPAction) -> None:
        self._head(event, f"Calls {event.tool} of {event.server}, outside the sandbox")
        self._block("> ", msgspec.json.format(msgspec.json.encode(event.arguments)).decode())
        if event.where:
            self._block("", f"Server: {event.where}", "dim")

    @_show.register
    def _(self, event: BrowseURLAction) -> None:
        where = f" from character {event.start}" if event.start else ""
        self._head(event, f"Fetches {event.url}{where}")

    @_show.register
    def _(self, event: KernelCopyAction) -> None:
        name = f" ({event.kernel.name})" if event.kernel else ""
        of = f"{event.variable} of your kernel: {event.path}{name}"
        self._head(event, f"Copies {of}. {event.why}".rstrip())
        if event.found:
            shape = " by ".join(map(str, event.found.shape)) or "a single value"
            rows = f"{event.found.rows} rows are copied ({event.sample})"
            self._block("", f"{event.found.type}, {shape}; {rows}, unmasked", "yellow")

    @_show.register
    def _(self, event: KernelLookAction) -> None:
        where = f"your kernel: {event.path}" if event.whose == "user" else "the sandbox's kernel"
        self._head(event, f"Looks at the {event.what} of {where}")

    @_show.register
    def _(self, event: KernelInspectAction) -> None:
        where = f"your kernel: {event.path}" if event.whose == "user" else "the sandbox"
        names = ", ".join(event.names) or f"all {event.query}".rstrip()
        self._head(event, f"Looks at variables in {where}: {names}")

    @_show.register
    def _(self, event: CmdRunAction) -> None:
        if event.is_input:
            self._head(event, "Types into the running command")
            self._block("< ", event.command)
        elif event.command:
            self._head(event, "Runs a command")
            self._block("$ ", event.command)
        else:
            self._head(event, "Waits for the running command")

    @_show.register
    def _(self, event: FileReadAction) -> None:
        self._head(event, f"Reads {event.path}")

    @_show.register
    def _(self, event: FileWriteAction) -> None:
        self._head(event, f"Writes {event.path}")
        self._block("+ ", text_of(event.content), "green")
        if isinstance(event.content, Blob):
            self._block("", f"(all {event.content.size:,} bytes: blobs/{event.content.sha256})")

    @_show.register
    def _(self, event: FileEditAction) -> None:
        self._head(event, f"Edits {event.path} ({event.command})")
        if event.old_str:
            self._block("- ", event.old_str, "red")
        if event.new_str:
            self._block("+ ", event.new_str, "green")

    @_show.register
    def _(self, event: FileGlobAction) -> None:
        self._head(event, f"Finds files: {event.pattern} in {event.path}")

    @_show.register
    def _(self, event: FileGrepAction) -> None:
        include = f", files {event.include}" if event.include else ""
        self._head(event, f"Searches files: {event.pattern} in {event.path}{include}")

    @_show.register
    def _(self, event: NotebookListAction) -> None:
        self._head(event, f"Lists notebooks {event.glob}".rstrip())

    @_show.register
    def _(self, event: NotebookOutlineAction) -> None:
        self._head(event, f"Looks at the notebook {event.path}")

    @_show.register
    def _(self, event: NotebookReadAction) -> None:
        cells = ", ".join(event.cells) or "all cells"
        self._head(event, f"Reads in the notebook {event.path}: {cells}")

    @_show.register
    def _(self, event: NotebookSearchAction) -> None:
        self._head(event, f"Searches the notebook {event.path}: {event.pattern}")

    @_show.register
    def _(self, event: NotebookOutputAction) -> None:
        self._head(event, f"Reads an output in the notebook {event.path}: {event.handle}")

    @_show.register
    def _(self, event: NotebookEditAction | NotebookUndoAction) -> None:
        undoes = isinstance(event, NotebookUndoAction)
        what = "Takes edits back in" if undoes else "Edits"
        self._head(event, f"{what} the notebook {event.path}. {event.why}".rstrip())
        for cell in event.cells:
            notes = f" ({'; '.join(cell.notes)})" if cell.notes else ""
            self._block("", f"{cell.id}: {cell.what}{notes}")
            if cell.before != cell.after:
                self._text("- ", cell.before, "red")
                self._text("+ ", cell.after, "green")

    def _text(self, mark: str, text: str | None, colour: str) -> None:
        if text:
            self._block(mark, text, colour)

    @_show.register
    def _(self, event: NotebookCreateAction) -> None:
        self._head(event, f"Makes the notebook {event.path}")
        for cell in event.cells:
            self._text("+ ", cell.source, "green")

    @_show.register
    def _(self, event: NotebookSaveAction) -> None:
        self._head(event, f"Saves the notebook {event.path}")

    @_show.register
    def _(self, event: NotebookRunAction) -> None:
        where = "your kernel" if event.kernel == "user" else "the sandbox"
        self._head(event, f"Runs cells of {event.path} in {where}. {event.why}".rstrip())
        for cell in event.planned:
            self._block("", f"@{cell.position} {cell.id}")
            self._block("> ", cell.source)

    @_show.register
    def _(self, event: AwaitRunAction) -> None:
        self._head(event, f"Waits for the run {event.run}")

    @_show.register
    def _(self, event: StopRunAction) -> None:
        self._head(event, f"Stops the run {event.run}")

    @_show.register
    def _(self, event: HookObservation) -> None:
        tool = f" of {event.tool}" if event.tool else ""
        told = f"Hook {event.command} for {event.event}{tool}: {event.outcome}"
        self._head(event, told, "dim" if event.outcome == "told" else "yellow")
        self._block("", event.content, "dim")

    @_show.register
    def _(self, event: UseSkillAction) -> None:
        self._head(event, f"Asks for the skill {event.skill} {event.file}".rstrip(), "dim")

    @_show.register
    def _(self, event: SkillsObservation) -> None:
        if event.skills:
            names = ", ".join(skill.name for skill in event.skills)
            self._head(event, f"Skills: {names}", "dim")
        for problem in event.problems:
            self._block("", problem, "yellow")

    @_show.register
    def _(self, event: SkillObservation) -> None:
        self._head(event, f"{skill_given(event)}.", "dim")

    @_show.register
    def _(self, event: InvalidToolCallAction) -> None:
        self._head(event, f"The model has to mend its reply: {event.message}", "dim")

    @_show.register
    def _(self, event: CondensationAction) -> None:
        what = "summed up" if event.condenser == "llm" else "left out"
        told = (
            f"Older steps are {what} for the model from here on: "
            f"about {event.tokens_before:,} tokens became {event.tokens_after:,}"
        )
        self._head(event, told, "dim")
        if event.summary:
            self._block("", event.summary, "dim")

    @_show.register
    def _(self, event: QuarantineAction) -> None:
        what = "images of " if event.only_images else ""
        items = ", ".join(map(str, event.items))
        self._head(event, f"Kept from the model, which refused it: {what}{items}", "yellow")
        self._block("", event.message, "dim")

    @_show.register
    def _(self, event: TaskTrackingAction) -> None:
        self._head(event, "Plan")
        for task in event.tasks:
            self._block(f"{_MARKS[task.status]} ", task.title)

    @_show.register
    def _(self, event: FinishAction) -> None:
        self._head(event, "Done", "green")
        self._block("", event.message)

    @_show.register
    def _(self, event: RejectAction) -> None:
        self._head(event, "Declined", "red")
        self._block("", event.message)

    @_show.register
    def _(self, event: ConfirmationAction) -> None:
        verb = "Approved" if event.decision == "approve" else "Rejected"
        self._head(event, f"{verb} action {event.cause}. {event.reason}".rstrip(), "cyan")

    @_show.register
    def _(self, event: CheckpointObservation) -> None:
        counts = [(event.changed, "file"), (event.cells, "cell")]
        told = [f"{count} {what}{'s' if count > 1 else ''}" for count, what in counts if count > 0]
        if told:
            self._head(event, f"This turn changed {' and '.join(told)}", "dim")

    @_show.register
    def _(self, event: FilesRestoredObservation) -> None:
        self._head(event, f"Restored {event.restored} paths, removed {event.removed}", "green")
        for left in event.conflicts:
            self._block("", f"Left alone: {left.path}: {left.reason}", "yellow")
        for failed in event.failed:
            self._block("", f"Not restored: {failed.path}: {failed.reason}", "red")
        for notebook in event.notebooks:
            self._notebook(notebook)

    def _notebook(self, notebook: NotebookRestored) -> None:
        if notebook.problem:
            self._block("", f"Not restored: {notebook.path}: {notebook.problem}", "red")
            return
        self._block("", f"{notebook.path}: {len(notebook.cells)} cells are as before")
        self._left(notebook.path, notebook.left)

    def _left(self, path: str, cells: Iterable[LeftCell]) -> None:
        for left in cells:
            self._block("", f"Left alone: {path}, cell {left.id}: {left.why}", "yellow")

    @_show.register
    def _(self, event: ReplayObservation) -> None:
        colour = "green" if event.done == event.cells else "yellow"
        self._head(event, f"Ran {event.done} of {event.cells} cells again. {event.reason}", colour)

    @_show.register
    def _(self, event: LimitWarningObservation) -> None:
        self._head(event, f"The session has used {used_of_limit(event)}.", "yellow")

    @_show.register
    def _(self, event: StuckObservation) -> None:
        done = "The agent was stopped" if event.stopped else "The agent was told that it is stuck"
        self._head(event, f"{done}: {seen_in_loop(event)}.", "yellow")

    @_show.register
    def _(self, event: NoCheckpointObservation) -> None:
        self._head(event, f"{event.message} {event.hint}", "yellow")

    @_show.register
    def _(self, event: CmdOutputObservation) -> None:
        self._block("", event.content)
        if event.running:
            self._head(event, "Command still running", "yellow")
        else:
            end = event.interrupted or f"exit code {event.exit_code}"
            self._head(event, f"Command ended: {end}", "dim" if event.exit_code == 0 else "red")
        for job in event.jobs:
            self._block("", f"Job {job.id}, pid {job.pid}, {job.status}: {job.command}", "dim")

    @_show.register
    def _(self, event: IPythonOutputObservation) -> None:
        self._outputs(event.outputs)
        self._text("", names_text(event.names), "dim")
        self._files(event.files)
        end = event.interrupted or ("ok" if event.ok else "error")
        self._head(event, f"Cell ended: {end}", "dim" if event.ok else "red")

    @_show.register
    def _(self, event: KernelCodeObservation) -> None:
        self._outputs(event.outputs)
        end = event.interrupted or ("ok" if event.ok else "error")
        told = f"Code in your kernel ended: {end}. {event.notice}".rstrip()
        self._head(event, told, "dim" if event.ok else "red")
        if event.changed:
            self._block("", f"Bound otherwise now: {', '.join(event.changed)}", "yellow")
        self._files(event.files)

    @_show.register
    def _(self, event: MCPObservation) -> None:
        self._outputs(event.outputs)
        end = "ok" if event.ok else "error"
        told = f"{event.tool} of {event.server} ended: {end}"
        self._head(event, told, "dim" if event.ok else "red")

    @_show.register
    def _(self, event: BrowserOutputObservation) -> None:
        self._outputs(event.outputs)
        told = f"Fetched {event.url}: {event.title}".rstrip(": ")
        self._head(event, f"{told} ({event.total} characters, status {event.status})", "dim")

    @_show.register
    def _(self, event: KernelCopyObservation) -> None:
        self._head(event, f"Copied to {event.file}: {event.size} bytes", "dim")

    @_show.register
    def _(self, event: KernelObservation) -> None:
        first, *more = event.content.splitlines() or [""]
        told = f"Kernel: {len(more) + 1} lines read" if more else first
        self._head(event, told, "dim")

    def _files(self, files: TouchedFiles | None) -> None:
        self._text("", files_text(files), "dim")

    def _outputs(self, outputs: list[Output]) -> None:
        for output in outputs:
            self._block("", _output_text(output), "red" if output.kind == "error" else "")

    @_show.register
    def _(self, event: FileReadObservation) -> None:
        what = "folder" if event.is_dir else f"{event.total_lines} lines"
        self._head(event, f"Read {event.path}: {what}", "dim")

    @_show.register
    def _(self, event: FileWriteObservation) -> None:
        self._head(event, f"{'Created' if event.created else 'Wrote'} {event.path}", "dim")

    @_show.register
    def _(self, event: FileEditObservation) -> None:
        self._head(event, f"Changed {event.path}", "dim")

    @_show.register
    def _(self, event: FileGlobObservation) -> None:
        for file in event.files:
            self._block("", file)
        self._head(event, f"Found {event.total} files. {event.notice}".rstrip(), "dim")

    @_show.register
    def _(self, event: FileGrepObservation) -> None:
        for match in event.matches:
            self._block("", f"{match.path}:{match.line}: {match.text}")
        found = f"Found {event.total} lines in {event.files} files. {event.notice}"
        self._head(event, found.rstrip(), "dim")

    @_show.register
    def _(self, event: NotebookObservation) -> None:
        lines = event.content.count("\n") + 1
        self._head(event, f"Notebook {event.path}: {lines} lines read", "dim")

    @_show.register
    def _(self, event: NotebookEditObservation) -> None:
        rejected = f", {len(event.rejected)} rejected" if event.rejected else ""
        told = f"Notebook {event.path}: {len(event.cells)} cells edited{rejected}"
        self._head(event, told, "dim")
        self._left(event.path, event.left)

    @_show.register
    def _(self, event: NotebookRunObservation) -> None:
        self._block("", event.content)
        for output in (output for cell in event.cells for output in cell.outputs):
            self._block("", _output_text(output), "red" if output.kind == "error" else "")
        self._files(event.files)
        colour = "red" if event.state in ("error", "kernel_dead", "unknown") else "dim"
        self._head(event, f"Cells of {event.path}: {event.state.replace('_', ' ')}", colour)

    @_show.register
    def _(self, event: UserRejectObservation) -> None:
        self._head(event, "Not executed", "yellow")

    @_show.register
    def _(self, event: ErrorObservation) -> None:
        self._head(event, f"{event.message} {event.hint}".rstrip(), "red")

    @_show.register
    def _(self, event: IsolationObservation) -> None:
        text = f"Sandbox: {event.level} ({event.backend}). {event.summary} {event.notice}"
        self._head(event, text.rstrip(), _LEVELS[event.level])

    @_show.register
    def _(self, event: SandboxReleasedObservation) -> None:
        self._head(event, event.reason, "dim")

    @_show.register
    def _(self, event: NetworkRefusedObservation) -> None:
        hint = f" {HOW_TO_LIST}" if event.reason == "not_listed" else ""
        self._head(event, f"{refusal(event)}{hint}", "yellow")

    @_show.register
    def _(self, event: NetworkAccessAction) -> None:
        self._head(event, access_changed(event), "cyan")

    @_show.register
    def _(self, event: AgentStateChangedObservation) -> None:
        if event.retry_in is not None:
            when = f"It is asked again in {event.retry_in:.0f} seconds."
            self._head(event, f"{event.reason} {when}", "yellow")
        elif event.code:
            self._head(event, f"{event.reason} {event.hint}".rstrip(), "red")

    @_show.register
    def _(self, event: ModelNoticeObservation) -> None:
        self._head(event, f"{event.message} {event.hint}".rstrip(), "yellow")


def _output_text(output: Output) -> str:
    """The plainest form of a cell's output."""
    if output.kind in ("stream", "error"):
        return text_of(output.text)
    plain = output.data.get("text/plain")
    if isinstance(plain, str):
        return plain
    return f"({', '.join(output.data)})"
