"""The panel as a person uses it."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

SHORTCUT = "Control+Alt+o"


class Panel:
    """The panel in a page of JupyterLab.

    Attributes
    ----------
    root
        The whole panel.
    log
        The timeline.
    composer
        Where messages are written.
    status
        The strip at the bottom.
    card
        The question for approval.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.root = page.get_by_role("region", name="OpenHands", exact=True)
        self.log = self.root.get_by_role("log")
        self.composer = self.root.get_by_role("textbox", name="Message to the agent")
        self.status = self.root.get_by_role("group", name="Status")
        self.card = self.root.get_by_role("region", name=re.compile("^Approve this"))

    def open(self) -> None:
        """Click the icon at the side, unless the panel is open already."""
        if not self.root.is_visible():
            self.page.get_by_role("tab", name="OpenHands").click()
        expect(self.composer).to_be_visible()

    def reload(self) -> None:
        """Load the page anew; JupyterLab itself forgets a panel that was opened just before."""
        self.page.reload()
        self.page.locator(".jp-LauncherCard").first.wait_for(timeout=60_000)
        self.open()

    def send(self, message: str) -> None:
        """Type a message and press Enter."""
        self.composer.fill(message)
        self.composer.press("Enter")
        expect(self.composer).to_have_value("")

    def new_session(self) -> None:
        """Begin a new session."""
        self.root.get_by_role("button", name="New session").last.click()
        expect(self.root.get_by_role("heading", name="What shall be done?")).to_be_visible()

    def pick_session(self, title: str) -> None:
        """Choose a session in the list."""
        self.list_sessions().get_by_role("button", name=title).first.click()

    def list_sessions(self) -> Locator:
        """Open the list of sessions."""
        self.root.locator(".jp-OpenHands-header").get_by_role("button").first.click()
        return self.root.get_by_role("dialog", name="Sessions")

    def expect_state(self, words: str) -> None:
        """Wait until the strip at the bottom says this."""
        expect(self.status).to_contain_text(words)

    def action(self, name: str) -> Locator:
        """The rows of actions with this name, such as ``Run a command``."""
        return self.log.get_by_role("article", name=name)

    def rows(self) -> list[str]:
        """The text of all rows, whether they are in view or not."""
        found: dict[int, str] = {}
        self.log.evaluate("log => log.scrollTop = 0")
        for _ in range(100):
            self.page.wait_for_timeout(200)
            found |= self._rows_in_page()
            at_end = self.log.evaluate(
                """log => {
                    const before = log.scrollTop;
                    log.scrollTop += log.clientHeight / 2;
                    return log.scrollTop === before;
                }"""
            )
            if at_end:
                return [found[index] for index in sorted(found)]
        raise AssertionError("The timeline has no end.")

    def set_width(self, pixels: int) -> None:
        """Drag the panel's edge until it is this wide."""
        handle = self.page.locator("#jp-main-split-panel > .lm-SplitPanel-handle:visible").last
        for _ in range(3):
            box = handle.bounding_box()
            now = self.root.bounding_box()
            assert box and now
            x, y = box["x"] + box["width"] / 2, box["y"] + 200
            self.page.mouse.move(x, y)
            self.page.mouse.down()
            self.page.mouse.move(x + now["width"] - pixels, y, steps=5)
            self.page.mouse.up()

    def _rows_in_page(self) -> dict[int, str]:
        rows = self.log.locator("[data-index]").evaluate_all(
            "rows => rows.map(row => [Number(row.dataset.index), row.innerText])"
        )
        return dict(rows)
