"""An agent for work on repositories, which does not end before tests ran."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..events import (
    Action,
    CmdOutputObservation,
    CmdRunAction,
    Event,
    FileEditObservation,
    FileWriteObservation,
    FinishAction,
    InvalidToolCallAction,
    IPythonOutputObservation,
    IPythonRunCellAction,
    NotebookEditObservation,
    State,
    UserMessageAction,
)
from .codeact import CodeActAgent

UNTESTED = (
    "You changed files and no tests ran since. Run those that cover the change. If there are none "
    "or they cannot be run, call finish again and say so in its message."
)
_TESTS = re.compile(
    r"(?:^|[\n;&|(/!]|-m|\b(?:npx|run|exec|time)|\w=\S*)\s*"
    r"(?:pytest|py\.test|tox|nox|ctest|jest|vitest|rspec|phpunit)(?![-\w])"
    r"|\bunittest\b|\bmanage\.py test\b|\bR CMD check\b|\btestthat\b|\bPkg\.test\b"
    r"|\b(?:npm|yarn|pnpm|jlpm|go|cargo|dotnet|mvn|gradle|gradlew|mix|bazel|swift|deno|bun)"
    r"(?:\s+run)?\s+test\b"
    r"|\bmake\b[^\n;&|]*(?<!-C)\s(?:test|check)"
)
_CHANGED = FileWriteObservation | FileEditObservation | NotebookEditObservation


class SWEAgent(CodeActAgent):
    """Works on a repository: finds the place, reproduces, patches, tests."""

    name = "swe"
    title = "Software engineer"
    description = "Works on a repository: finds the place, reproduces, patches, runs the tests."
    template = "swe.j2"

    async def step(self, state: State) -> Action:
        action = await super().step(state)
        if isinstance(action, FinishAction) and is_untested(state.history):
            # As an answer to the call, so that the model mends it.
            return InvalidToolCallAction(message=UNTESTED, thought=action.thought, llm=action.llm)
        return action


def is_untested(history: Sequence[Event]) -> bool:
    """Whether files were changed after tests ran last, and the model was not told so before.

    It looks back to the person's last message at most.
    """
    ended: set[int | None] = set()
    for event in reversed(history):
        match event:
            case UserMessageAction():
                return False
            case InvalidToolCallAction() if event.message == UNTESTED:
                return False
            case CmdOutputObservation(running=False) | IPythonOutputObservation():
                ended.add(event.cause)
            case CmdRunAction(command=code) | IPythonRunCellAction(code=code) if event.id in ended:
                if runs_tests(code):
                    return False
            case _ if isinstance(event, _CHANGED):
                return True
    return False


def runs_tests(code: str) -> bool:
    """Whether a command or a cell looks like one that runs tests."""
    return _TESTS.search(code) is not None
