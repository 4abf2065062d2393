"""The self-test, while agentd goes on with its own start."""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Trial:
    """The self-test in a process of its own, as a command of the agent would run.

    Parameters
    ----------
    params
        What the client prepared; see `selftest.run`.
    """

    def __init__(self, params: dict[str, Any]) -> None:
        self._answer, write = os.pipe()
        # A fork, because another interpreter would take as long to start as this one did.
        self._child = os.fork()
        if self._child == 0:
            code = 1
            try:
                with open(write, "w", encoding="utf-8") as answer:
                    from .selftest import run

                    json.dump(run(params), answer)
                code = 0
            finally:
                os._exit(code)
        os.close(write)

    def results(self) -> list[dict[str, Any]]:
        """Wait for what it found: for each thing tried ``name``, ``held`` and ``detail``.

        ``held`` is whether the attempt was stopped.
        """
        with open(self._answer, encoding="utf-8") as answer:
            told = answer.read()
        _, status = os.waitpid(self._child, 0)
        if status:
            raise RuntimeError(f"the self-test ended with status {status}")
        results: list[dict[str, Any]] = json.loads(told)
        return results
