"""A log of many events: only the newest are read, and only what is in view is in the page."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import pairwise

from playwright.sync_api import expect
from ui.lab_server import LabServer
from ui.panel import Panel

MESSAGES = 450
SESSION = "0123456789abcdef" * 2


def write_log(lab: LabServer) -> None:
    """Put a session of an earlier day there."""
    folder = lab.home / "sessions" / SESSION
    folder.mkdir(parents=True)
    now = datetime.now(UTC).isoformat()
    with open(folder / "events.jsonl", "w") as log:
        for number in range(MESSAGES):
            message = {
                "v": 1,
                "id": number,
                "session": SESSION,
                "time": now,
                "source": "agent",
                "type": "AgentMessageAction",
                "content": f"message-{number} " + "and **more** of it " * (number % 25),
            }
            log.write(json.dumps(message) + "\n")
    info = {
        "id": SESSION,
        "title": "A long one",
        "created": now,
        "updated": now,
        "workspace": str(lab.root),
        "last_id": MESSAGES - 1,
    }
    (folder / "session.json").write_text(json.dumps(info))


def test_scrolling_up_reads_older_events_and_moves_nothing(lab: LabServer, panel: Panel) -> None:
    write_log(lab)
    pages: list[str] = []
    panel.page.on("request", lambda r: pages.append(r.url) if "order=desc" in r.url else None)
    panel.pick_session("A long one")
    expect(panel.log.get_by_text(f"message-{MESSAGES - 1} ")).to_be_visible()
    assert len(pages) == 1
    assert panel.log.locator("[data-index]").count() < 60

    panel.log.hover()
    seen = [first_visible(panel)]
    for _ in range(400):
        panel.page.mouse.wheel(0, -450)
        panel.page.wait_for_timeout(40)
        seen.append(first_visible(panel))
        if seen[-1] == 0:
            break
    assert seen[-1] == 0, seen
    steps = [before - after for before, after in pairwise(seen)]
    # A page that is put before what is in view must not throw the reader anywhere.
    assert all(-2 <= step <= 25 for step in steps), seen
    assert len(pages) == 3
    expect(panel.log.get_by_text("message-0 ", exact=False).first).to_be_visible()

    panel.root.get_by_role("button", name="Newest").click()
    expect(panel.log.get_by_text(f"message-{MESSAGES - 1} ")).to_be_visible()
    assert panel.log.locator("[data-index]").count() < 60


def first_visible(panel: Panel) -> int:
    """The number of the first message in view."""
    text: str = panel.log.evaluate(
        """log => {
            const top = log.getBoundingClientRect().top;
            const rows = [...log.querySelectorAll('[data-index]')]
                .map(row => [row.getBoundingClientRect(), row.innerText])
                .filter(([box, text]) => box.bottom > top + 4 && text)
                .sort((a, b) => a[0].top - b[0].top);
            return rows.length ? rows[0][1] : '';
        }"""
    )
    return int(text.split("-", 1)[1].split()[0]) if text else -1
