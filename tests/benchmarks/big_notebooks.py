"""What notebooks of 2,000 cells and of 50 MB take: typing into them, and edits by the agent.

A real JupyterLab in a real browser, the agent's own tools, a scripted model. The floor of an
edit is one in a notebook of 20 cells, that of a key the same without the extension's part in
the browser.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from measure import Row
from playwright.sync_api import Browser, CDPSession, Page, WebSocket, sync_playwright

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS))

from model_server import ModelServer, call  # noqa: E402
from notebook_contract import code, notebook, rev  # noqa: E402
from ui.conftest import BROWSER, FLAGS  # noqa: E402
from ui.lab_server import TOKEN, LabServer  # noqa: E402
from ui.notebooks import Notebooks  # noqa: E402

FEW, MANY = 20, 2000
LARGE = 50 * 2**20
KEYS = "abcdefghijklmnopqrst"
CELL = "cell-number-5"
DRAWN = """() => [...window.jupyterapp.shell.widgets('main')]
    .find(widget => widget.context?.path === 'big.ipynb')
    .content.widgets.every(cell => !cell.placeholder)"""


def rows(rounds: int = 5) -> list[Row]:
    """Keys and edits."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        model = ModelServer()
        model.start()
        browser = play.chromium.launch(executable_path=BROWSER, args=FLAGS)
        lab = LabServer(Path(folder), _environ(model), [_door()])
        lab.start()
        try:
            return Bench(lab, model, browser, rounds).rows()
        finally:
            lab.stop()
            browser.close()
            model.close()


def _environ(model: ModelServer) -> dict[str, str]:
    return {
        "LLM_MODEL": "openai/scripted",
        "LLM_BASE_URL": model.url,
        "OPENAI_API_KEY": "key",
        "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)]),
    }


def _door() -> str:
    extensions = dict.fromkeys(("ui.notebook_door", "openhands_jupyter"), True)
    return f"--ServerApp.jpserver_extensions={extensions}"


def content(cells: int, size: int = 0) -> dict[str, Any]:
    """A notebook with outputs of so many bytes."""
    data = {"application/x-large": "A" * (size // cells), "text/plain": "large"}
    output = {"output_type": "display_data", "data": data, "metadata": {}}
    sources = [f"x{n} = {n}\nprint(x{max(n - 1, 0)})" for n in range(cells)]
    return notebook(*(code(f"cell-number-{n}", s, output) for n, s in enumerate(sources)))


class Bench:
    """JupyterLab and what is measured in it."""

    def __init__(self, lab: LabServer, model: ModelServer, browser: Browser, rounds: int) -> None:
        self.lab = lab
        self.model = model
        self.browser = browser
        self.rounds = rounds

    def rows(self) -> list[Row]:
        few, many = self.edits(content(FEW)), self.edits(content(MANY))
        large = self.edits(content(FEW, LARGE))
        on_disk = {
            name: self.edits(made, is_open=False)[0]
            for name, made in {
                "few": content(FEW),
                "many": content(MANY),
                "large": content(FEW, LARGE),
            }.items()
        }
        return [
            *self.keys(),
            Row(
                "nb_edit of an open notebook, 2,000 cells against 20", many[0], few[0], "ms", "≤ 3"
            ),
            Row("nb_edit of an open notebook, 50 MB against none", large[0], few[0], "ms", "≤ 1.5"),
            Row("sent by the browser for it, 50 MB against none", large[1], few[1], "kB", "≤ 3"),
            Row("nb_edit of a file, 2,000 cells against 20", on_disk["many"], on_disk["few"], "ms"),
            Row("nb_edit of a file, 50 MB against none", on_disk["large"], on_disk["few"], "ms"),
        ]

    def keys(self) -> list[Row]:
        """Milliseconds of the browser's main thread for a key in a notebook of many cells."""
        self.write(content(MANY))
        with self.page(extension=False) as without, self.page() as with_it:
            pages = {"without": without, "with": with_it}
            for page in pages.values():
                self.open(page)
                page.locator(".jp-Cell .cm-content").first.click()
            figures: dict[str, list[float]] = {name: [] for name in pages}
            for _ in range(self.rounds + 1):
                for name, page in pages.items():
                    figures[name].append(self.type_into(page))
        ours, floor = (statistics.median(figures[name][1:]) for name in ("with", "without"))
        return [Row("key in a notebook of 2,000 cells", ours, floor, "ms", "≤ 1.05")]

    def type_into(self, page: Page) -> float:
        page.bring_to_front()
        page.wait_for_timeout(1000)
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        before = busy(session)
        page.keyboard.type(KEYS, delay=50)
        page.wait_for_timeout(1000)
        return (busy(session) - before) / len(KEYS)

    def edits(self, made: dict[str, Any], is_open: bool = True) -> tuple[float, float]:
        """Milliseconds from what the agent has read to what it has edited, and kB that are sent."""
        self.write(made)
        sent = [0]

        def count(socket: WebSocket) -> None:
            if "/tabs" in socket.url:
                socket.on("framesent", lambda frame: sent.append(len(frame)))

        with self.page() as page:
            page.on("websocket", count)
            page.reload()
            page.locator(".jp-LauncherCard").first.wait_for(timeout=60_000)
            if is_open:
                self.open(page)
                # It draws the cells one by one when it has time, and then does nothing else.
                page.wait_for_function(DRAWN, timeout=300_000)
            page.wait_for_timeout(2000)
            source = made["cells"][5]["source"]
            times, amounts = [], []
            session = self.lab.call("POST", "sessions", {"mode": "auto"})["id"]
            for number in range(self.rounds + 1):
                sent.clear()
                now = f"{source} # {number}"
                times.append(self.edit(page, session, source, now))
                amounts.append(sum(sent) / 1000)
                source = now
            self.lab.call("DELETE", f"sessions/{session}")
        return statistics.median(times[1:]), statistics.median(amounts[1:])

    def edit(self, page: Page, session: str, source: str, now: str) -> float:
        cell = rev(code(CELL, source))
        replace = {"op": "replace", "id": CELL, "expect_rev": cell, "source": now}
        self.model.play(
            call("nb_read", path="big.ipynb", cells=[CELL], outputs="none"),
            call("nb_edit", path="big.ipynb", ops=[replace]),
            call("finish", message="Done."),
        )
        asked = self.lab.call("POST", f"sessions/{session}/messages", {"content": "Go"})["id"]
        route = f"sessions/{session}/events?after={asked}"
        while True:
            events = self.lab.call("GET", route)["events"]
            if any(event["type"] == "FinishAction" for event in events):
                break
            page.wait_for_timeout(50)
        read, edited = (
            next(datetime.fromisoformat(e["time"]) for e in events if e["type"] == type)
            for type in ("NotebookObservation", "NotebookEditObservation")
        )
        return (edited - read).total_seconds() * 1000

    def write(self, made: dict[str, Any]) -> None:
        (self.lab.root / "big.ipynb").write_text(json.dumps(made))

    def open(self, page: Page) -> None:
        page.evaluate(
            """async kernel => {
                const args = {path: 'big.ipynb', factory: 'Notebook', kernel};
                const panel = await window.jupyterapp.commands.execute('docmanager:open', args);
                await panel.context.ready;
                await panel.revealed;
            }""",
            Notebooks(page, self.lab).kernel,
        )
        page.wait_for_timeout(5000)

    @contextmanager
    def page(self, extension: bool = True) -> Iterator[Page]:
        """A page of JupyterLab, with or without what the extension does in the browser."""
        config = self.lab.folder / "config" / "labconfig" / "page_config.json"
        config.parent.mkdir(exist_ok=True)
        disabled = {} if extension else {"openhands-jupyter": True}
        config.write_text(json.dumps({"disabledExtensions": disabled}))
        page = self.browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        page.goto(f"{self.lab.url}/lab?token={TOKEN}&reset")
        page.locator(".jp-LauncherCard").first.wait_for(timeout=60_000)
        yield page
        page.context.close()


def busy(session: CDPSession) -> float:
    """Milliseconds that the main thread has worked so far."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    found: float = next(m["value"] for m in metrics if m["name"] == "TaskDuration")
    return found * 1000
