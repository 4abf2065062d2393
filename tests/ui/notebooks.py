"""Notebooks in a page of JupyterLab, and what the server can do with them."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any
from urllib.request import Request, urlopen

from playwright.sync_api import Locator, Page, expect
from ui.lab_server import TOKEN, LabServer

from openhands_jupyter.notebooks.delivery.tabs import ANSWERS_WITHIN, SAVES_WITHIN

PATIENCE = 60.0
"""Seconds after which a test that waits has failed."""

ANSWERED_WITHIN = SAVES_WITHIN + 4 * ANSWERS_WITHIN
"""Seconds for an answer: more than a tab has, whose silence the server then tells."""


def write(lab: LabServer, path: str, notebook: dict[str, Any]) -> None:
    """Write the file of a notebook."""
    (lab.root / path).write_text(json.dumps(notebook))


class Notebooks:
    """The notebooks of a page, all of them on one kernel.

    Parameters
    ----------
    page
        JupyterLab.
    lab
        Its server.
    """

    def __init__(self, page: Page, lab: LabServer) -> None:
        self.page = page
        self.lab = lab

    @cached_property
    def kernel(self) -> dict[str, Any]:
        """A kernel."""
        made: dict[str, Any] = self._post("api/kernels", {"name": "python3"})
        return made

    def write(self, path: str, notebook: dict[str, Any]) -> None:
        """Write a file, as other programs do."""
        write(self.lab, path, notebook)

    def content(self, path: str) -> dict[str, Any]:
        """What a file holds."""
        found: dict[str, Any] = json.loads((self.lab.root / path).read_text())
        return found

    def open(self, path: str) -> Locator:
        """Open a notebook, and wait until the server knows that it is, with its kernel.

        JupyterLab does not expect that one is closed before it has its kernel.
        """
        self.page.evaluate(
            """async ([path, kernel]) => {
                const args = {path, factory: 'Notebook', kernel};
                await window.jupyterapp.commands.execute('docmanager:open', args);
            }""",
            [path, self.kernel],
        )
        self.wait_for(lambda: self.opened().get(path, {}).get("kernel"))
        view = self.page.locator(".jp-NotebookPanel:visible")
        expect(view).to_have_count(1)
        return view

    def close(self, path: str) -> None:
        """Close the views of a notebook, without saving, and wait until the server knows."""
        self.page.evaluate(
            """path => [...window.jupyterapp.shell.widgets('main')]
                .filter(widget => widget.context?.path === path)
                .forEach(widget => widget.dispose())""",
            path,
        )
        self.wait_for(lambda: path not in self.opened())

    def execute(self, command: str, **args: Any) -> None:
        """Execute a command of JupyterLab."""
        self.page.evaluate(
            """async ([command, args]) => {
                await window.jupyterapp.commands.execute(command, args);
            }""",
            [command, args],
        )

    def opened(self) -> dict[str, dict[str, Any]]:
        """What the server knows to be open, by path."""
        return {notebook["path"]: notebook for notebook in self.ask("opened")}

    def sessions(self) -> list[dict[str, Any]]:
        """The notebooks that have a kernel."""
        request = Request(
            f"{self.lab.url}/api/sessions", headers={"Authorization": f"token {TOKEN}"}
        )
        with urlopen(request, timeout=ANSWERED_WITHIN) as response:
            found: list[dict[str, Any]] = json.loads(response.read())
        return found

    def ask(self, what: str, path: str = "", **more: Any) -> Any:
        """Have the server do something with a notebook; an error is ``{"error": code}``."""
        return self._post("openhands-test/notebooks", {"what": what, "path": path, **more})

    def read(self, path: str, whole: list[str] | None = None) -> Any:
        """What the server reads of a notebook."""
        return self.ask("read", path, whole=whole)

    def change(self, path: str, *steps: dict[str, Any]) -> Any:
        """Have the server change a notebook."""
        return self.ask("change", path, change={"steps": steps})

    def wait_for(self, condition: Any) -> None:
        """Wait until something is true of which the page tells nothing."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, "it did not come true"
            self.page.wait_for_timeout(50)

    def _post(self, route: str, body: object) -> Any:
        request = Request(
            f"{self.lab.url}/{route}",
            data=json.dumps(body).encode(),
            headers={"Authorization": f"token {TOKEN}"},
        )

        def send() -> Any:
            try:
                with urlopen(request, timeout=ANSWERED_WITHIN) as response:
                    return json.loads(response.read())
            except OSError as error:
                # It is an error of HTTP too, which the server's log explains.
                problem = f"{route} {body}: {error}\n{self.lab.log_text()[-20_000:]}"
                raise AssertionError(problem) from error

        # The page has to be attended to meanwhile, for what a test does with its sockets.
        with ThreadPoolExecutor(1) as executor:
            answer = executor.submit(send)
            while not answer.done():
                self.page.wait_for_timeout(10)
            return answer.result()
