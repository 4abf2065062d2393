"""A real JupyterLab, a real browser, a scripted model."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from model_server import ModelServer
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright
from ui.lab_server import TOKEN, LabServer
from ui.panel import Panel

# The same browser without what is there for windows, which costs a page a third of its start.
BROWSER = shutil.which("chromium-headless-shell") or shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-gpu",
    "--disable-dev-shm-usage",
]
RESULTS = Path("test-results")
FAILED = pytest.StashKey[bool]()

expect.set_options(timeout=20_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests here, and skip them where there is no browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("ui")
            item.add_marker(
                pytest.mark.skipif(not Path(BROWSER).exists(), reason="Chromium is not installed")
            )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note for the fixtures whether the test failed."""
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report


@pytest.fixture(autouse=True)
def jp_server_cleanup() -> None:
    """Replace pytest-jupyter's: its event loop would break Playwright's synchronous API."""


@pytest.fixture(autouse=True)
def jp_asyncio_loop() -> None:
    """Replace pytest-jupyter's, for the same reason."""


@pytest.fixture(scope="session")
def _model() -> Iterator[ModelServer]:
    server = ModelServer()
    server.start()
    yield server
    server.close()


@pytest.fixture(scope="session")
def _lab(_model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    environ = {
        "LLM_MODEL": "openai/scripted",
        "LLM_BASE_URL": _model.url,
        "OPENAI_API_KEY": "key-of-the-environment",
        "PYTHONPATH": os.pathsep.join(map(str, Path(__file__).parents[1:3])),
    }
    extensions = dict.fromkeys(("ui.notebook_door", "openhands_jupyter"), True)
    door = f"--ServerApp.jpserver_extensions={extensions}"
    server = LabServer(tmp_path_factory.mktemp("lab"), environ, [door])
    server.home.mkdir()
    (server.home / "config.toml").write_text("[core]\nmax_iteration = 3\n")
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def _browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    # Chromium keeps something at home, whatever profile it is given.
    environ = {**os.environ, "HOME": str(tmp_path_factory.mktemp("browser"))}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=FLAGS, env=environ)
        yield browser
        browser.close()


@pytest.fixture
def model(_model: ModelServer) -> ModelServer:
    """The model server that the Lab's default model is reached at."""
    _model.scripts = []
    _model.requests.clear()
    return _model


@pytest.fixture
def lab(_lab: LabServer) -> LabServer:
    """A Lab without sessions and files, with the settings of its environment."""
    for session in _lab.sessions():
        _lab.call("DELETE", f"sessions/{session['id']}")
    for path in _lab.root.iterdir():
        # The room of a notebook outlives its page, and may be renaming what it has written.
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    _lab.call("PUT", "settings", dict.fromkeys(["model", "base_url", "mode", "isolation"]))
    for secret in _lab.call("GET", "settings")["secrets"]:
        if secret["origin"] != "environment":
            _lab.call("DELETE", f"secrets/{secret['name']}")
    return _lab


@pytest.fixture
def tour(lab: LabServer) -> None:
    """Let the guided tour be the model of new sessions."""
    lab.call("PUT", "settings", {"model": "tour"})


@pytest.fixture
def expected_errors() -> list[str]:
    """Pieces of console errors that a test provokes; a test adds them."""
    return []


@pytest.fixture
def open_page(
    request: pytest.FixtureRequest,
    lab: LabServer,
    expected_errors: list[str],
    _browser: Browser,
) -> Iterator[Callable[..., Page]]:
    """Open JupyterLab, or a notebook in Notebook 7, in a new tab of one and the same profile.

    What `prepare` does with the page comes before it is loaded. The test fails when a page reports
    an error that is not expected.
    """
    context = _browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-US")
    errors: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(f"{message.text} ({message.location.get('url', '')})")

    def open_page(
        workspace: str = "default",
        notebook: str | None = None,
        prepare: Callable[[Page], None] = lambda page: None,
    ) -> Page:
        page = context.new_page()
        prepare(page)
        page.on("console", note)
        page.on("pageerror", lambda error: errors.append(str(error)))
        if notebook:
            page.goto(f"{lab.url}/notebooks/{notebook}?token={TOKEN}")
            page.locator(".jp-Notebook").first.wait_for(timeout=60_000)
            return page
        page.goto(f"{lab.url}/lab/workspaces/{workspace}?token={TOKEN}&reset")
        page.locator(".jp-LauncherCard").first.wait_for(timeout=60_000)
        return page

    yield open_page
    errors = [e for e in errors if not any(expected in e for expected in expected_errors)]
    if request.node.stash.get(FAILED, False) or errors:
        RESULTS.mkdir(exist_ok=True)
        for number, page in enumerate(context.pages):
            page.screenshot(path=RESULTS / f"{request.node.name}-{number}.png")
        (RESULTS / f"{request.node.name}.log").write_text(lab.log_text())
    context.close()
    assert not errors, errors


@pytest.fixture
def panel(open_page: Callable[..., Page]) -> Panel:
    """The panel, opened in a page of its own."""
    panel = Panel(open_page())
    panel.open()
    return panel
