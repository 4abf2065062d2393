"""``jupyter openhands eval``: how well a model does the tasks of a suite."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import aclosing, contextmanager
from pathlib import Path

import msgspec

from ..config import Config
from ..errors import Invalid, NotFound
from ..evaluation import Evaluation, Result, Task, load_tasks
from ..runtime.environment import packages
from .terminal import Terminal, inert

EXIT_PASSED = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_STOPPED = 130

SUITE = Path("tests/benchmarks/tasks")
"""In a clone of the project."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "eval",
        help="have a model do a suite of tasks, and check the results",
        description="Have a model do the tasks of a suite, each in a session of its own and a copy "
        "of the task's workspace, and run the task's checker on what became of it. The agent asks "
        "nothing: what would have to be asked is refused.",
        epilog="Exit codes: 0 all tasks passed, 1 some did not, 2 wrong usage, 130 stopped with "
        "Ctrl-C.",
    )
    parser.add_argument("name", nargs="*", metavar="TASK", help="only these tasks (default: all)")
    parser.add_argument("--model", help="a model in LiteLLM's terms, or 'tour'")
    parser.add_argument(
        "--tasks", type=Path, default=SUITE, metavar="DIR", help=f"the suite (default: {SUITE})"
    )
    parser.add_argument(
        "--jobs", type=_count, default=1, metavar="N", help="tasks at a time (default: 1)"
    )
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="keep the workspaces in this new folder"
    )
    parser.add_argument("--json", action="store_true", help="print each result as a line of JSON")


async def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Run the tasks and print the results; the exit code.

    Raises
    ------
    OpenHandsError
        When nothing can be begun, as where no sandbox works.
    """
    try:
        tasks = load_tasks(options.tasks, options.name)
        with _folder(options.keep) as folder:
            overrides = {"model": options.model} if options.model else {}
            config = Config(folder, overrides=overrides)
            return await _evaluate(tasks, config, options, terminal)
    except (Invalid, NotFound) as error:
        print(f"jupyter openhands: {error.message} {error.hint}".rstrip(), file=sys.stderr)
        return EXIT_USAGE


async def _evaluate(
    tasks: Sequence[Task], config: Config, options: argparse.Namespace, terminal: Terminal
) -> int:
    table = _Table(terminal, [task.name for task in tasks])
    evaluation = Evaluation(config, options.jobs)
    loop, this = asyncio.get_running_loop(), asyncio.current_task()
    assert this is not None
    loop.add_signal_handler(signal.SIGINT, this.cancel)
    results: list[Result] = []
    try:
        if not options.json:
            terminal.print(f"{len(tasks)} tasks with {inert(config.settings.model)}", "bold")
            table.head()
        async with aclosing(evaluation.results(tasks)) as running:
            async for result in running:
                results.append(result)
                if options.json:
                    print(msgspec.json.encode(result).decode(), flush=True)
                else:
                    table.row(result)
    except asyncio.CancelledError:
        return EXIT_STOPPED
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        await evaluation.close()
        if results and not options.json:
            table.sum(results)
    return EXIT_PASSED if all(result.passed for result in results) else EXIT_FAILED


class _Table:
    """Prints results as they come, in columns."""

    def __init__(self, terminal: Terminal, names: Sequence[str]) -> None:
        self._terminal = terminal
        self._width = max(map(len, (*names, "task")))

    def head(self) -> None:
        self._print("task", "result", "steps", "tokens", "cost", "seconds", "", "dim")

    def row(self, result: Result) -> None:
        self._print(
            result.task,
            "passed" if result.passed else "failed",
            f"{result.steps:,}",
            f"{result.tokens:,}",
            _dollars(result.cost),
            f"{result.seconds:.1f}",
            inert(result.reason).replace("\n", " "),
            "green" if result.passed else "red",
        )

    def sum(self, results: Sequence[Result]) -> None:
        costs = [result.cost for result in results]
        self._print(
            "",
            f"{sum(result.passed for result in results)} of {len(results)}",
            f"{sum(result.steps for result in results):,}",
            f"{sum(result.tokens for result in results):,}",
            _dollars(None if None in costs else sum(cost or 0.0 for cost in costs)),
            f"{sum(result.seconds for result in results):.1f}",
            "",
            "bold",
        )

    def _print(
        self,
        task: str,
        result: str,
        steps: str,
        tokens: str,
        cost: str,
        seconds: str,
        reason: str,
        colour: str,
    ) -> None:
        row = f"{task:<{self._width}}  {result:<8} {steps:>5} {tokens:>9} {cost:>9} {seconds:>8}"
        self._terminal.print(f"{row}  {reason}".rstrip(), colour)


def _dollars(cost: float | None) -> str:
    return "unknown" if cost is None else f"${cost:.4f}"


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    """A new folder for the workspaces; removed afterwards unless it is to be kept."""
    if keep is None:
        folder = Path(tempfile.mkdtemp(prefix="openhands-eval-"))
    else:
        try:
            keep.mkdir(parents=True)
        except FileExistsError:
            raise Invalid("folder_exists", f"{keep} exists already.", "Name a new one.") from None
        folder = keep
    try:
        yield folder.resolve()
    finally:
        if keep is None:
            packages.clear(folder)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of tasks")
    return int(text)
