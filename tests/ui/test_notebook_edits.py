"""An edit of a notebook: seen, approved in part and other words, made, undone; and a run of it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from model_server import ModelServer, call
from notebook_contract import code, notebook, rev, text
from playwright.sync_api import Locator, Page, WebSocket, expect
from ui.lab_server import LabServer
from ui.notebooks import PATIENCE, Notebooks
from ui.panel import Panel
from ui.test_looks import OVERFLOWING

PATH = "analysis.ipynb"
LOAD = code("load-cell", "prices = [1, 2, 3]\n")
PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP8"
    "zwAFTDAGAwATKQED8NgHhAAAAABJRU5ErkJggg=="
)
SEEN = {"output_type": "display_data", "data": {"image/png": PICTURE}, "metadata": {}}
TOTAL = code("total-cell", "total = sum(prices)\nprint(total)", SEEN)
NOTES = text("notes-cell", "# Prices")
LARGE = 50 * 2**20
OUTPUT = {
    "output_type": "display_data",
    "data": {"application/x-large": "A" * LARGE, "text/plain": "large"},
    "metadata": {},
}
OTHERS = [code(f"cell-number-{n}", f"x{n} = {n}") for n in range(40)]
OTHERS.append(code("large-cell", "show()", OUTPUT))
CHANGED = [cell["id"] for cell in (LOAD, TOTAL, NOTES)]
SOURCES = [cell["source"] for cell in (LOAD, TOTAL, NOTES)]
BETTER = "prices = [10, 20, 30]\n"
TITLE = "## The total"
EDIT = call(
    "nb_edit",
    path=PATH,
    why="Prices are in cents.",
    ops=[
        {"op": "replace", "id": LOAD["id"], "expect_rev": rev(LOAD), "source": BETTER},
        {"op": "insert", "type": "markdown", "source": TITLE, "after": LOAD["id"]},
        {"op": "delete", "id": TOTAL["id"], "expect_rev": rev(TOTAL)},
    ],
)


@pytest.fixture
def sent() -> list[int]:
    """Lengths of what the page sends to the server of its notebooks."""
    return []


@pytest.fixture
def notebooks(
    open_page: Callable[..., Page], lab: LabServer, model: ModelServer, sent: list[int]
) -> Notebooks:
    """A page with the notebook open, of which the agent reads some and wants to change some."""
    model.play(
        call("nb_outline", path=PATH),
        call("nb_read", path=PATH, cells=CHANGED, outputs="full"),
        EDIT,
        call("finish", message="Done."),
    )

    def count(socket: WebSocket) -> None:
        if "/openhands/api/tabs" in socket.url:
            socket.on("framesent", lambda frame: sent.append(len(frame)))

    page = open_page(prepare=lambda page: page.on("websocket", count))
    notebooks = Notebooks(page, lab)
    notebooks.write(PATH, notebook(LOAD, TOTAL, NOTES, *OTHERS))
    notebooks.open(PATH)
    return notebooks


@pytest.fixture
def panel(notebooks: Notebooks) -> Panel:
    """The panel beside the notebook, with the agent's question in it."""
    panel = Panel(notebooks.page)
    panel.open()
    panel.send("Tidy the notebook")
    # The sandbox is started before.
    expect(panel.card).to_contain_text("Edit 3 cells in analysis.ipynb", timeout=PATIENCE * 1000)
    return panel


def sources(notebooks: Notebooks) -> list[str]:
    """What stands in the tab, without the many cells at the end."""
    cells = notebooks.read(PATH, whole=[])["cells"]
    return [cell["source"] for cell in cells[: -len(OTHERS)]]


def cell_of(panel: Panel, name: str) -> Locator:
    """A cell in the question for approval."""
    return panel.card.get_by_role("listitem").filter(has_text=name)


def test_some_cells_are_approved_one_in_other_words_and_all_is_undone(
    notebooks: Notebooks, panel: Panel, model: ModelServer, sent: list[int]
) -> None:
    page = notebooks.page
    # What a model that sees images is shown, the person sees too.
    shown = panel.action("Read cells of analysis.ipynb").locator("img")
    expect(shown).to_have_js_property("naturalWidth", 3)
    expect(panel.card).to_contain_text("Prices are in cents.")
    changed = cell_of(panel, "Change code cell @0")
    expect(changed.locator(".cm-deletedChunk")).to_contain_text("[1, 2, 3]")
    expect(changed.locator(".cm-content")).to_contain_text("[10, 20, 30]")
    expect(cell_of(panel, "Delete code cell")).to_contain_text("sum(prices)")
    assert sources(notebooks) == SOURCES

    # Looking at the cell, which is out of sight, changes nothing.
    page.locator(".jp-Notebook .jp-Cell").last.scroll_into_view_if_needed()
    changed.get_by_role("button", name="Show cell").click()
    active = page.locator(".jp-Notebook .jp-Cell.jp-mod-active")
    expect(active).to_contain_text("prices = [1, 2, 3]")
    expect(active).to_be_in_viewport()

    # By keyboard: leave out the last cell, and write the new one anew.
    cell_of(panel, "Delete code cell").get_by_role("checkbox").press("Space")
    approve = panel.card.get_by_role("button", name="Approve")
    expect(approve).to_have_text("Approve 2 of 3 cells")
    inserted = cell_of(panel, "New Markdown cell @1")
    inserted.get_by_role("button", name="Edit").press("Enter")
    editor = inserted.get_by_role("textbox", name="Your text")
    expect(editor).to_be_focused()
    page.keyboard.press("Control+End")
    page.keyboard.type(" of my\u200bprices")
    expect(editor).to_contain_text("⟨U+200B⟩")
    expect(approve).to_have_text("Approve 2 of 3 cells with your text")

    # What was chosen is still there after a look at something else.
    panel.root.get_by_role("button", name="Settings").click()
    expect(panel.card).to_have_count(0)
    panel.root.get_by_role("button", name="Settings").click()
    expect(inserted).to_contain_text("## The total of my⟨U+200B⟩prices")
    page.evaluate(
        "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})",
        "JupyterLab Dark",
    )
    assert panel.root.evaluate(OVERFLOWING) == []
    page.screenshot(path="test-results/notebook-edit-asked.png")
    approve.click()
    expect(panel.status).to_contain_text("Finished", timeout=PATIENCE * 1000)

    mine = f"{TITLE} of my\u200bprices"
    assert sources(notebooks) == [BETTER, mine, SOURCES[1], SOURCES[2]]
    expect(page.locator(".jp-Notebook")).to_contain_text("The total of my")
    row = panel.action("Edit 3 cells in analysis.ipynb")
    expect(row).to_contain_text("Approved by you · 2 cells changed, 1 rejected")
    assert notebooks.content(PATH)["cells"][0]["source"] == SOURCES[0]
    told = str(model.requests[-1].body)
    assert "rejected these cells" in told and f"{TITLE} of my" in told

    # The cells are marked until they are accepted.
    marks = page.locator(".jp-Notebook").get_by_role("img", name="Changed by the OpenHands agent")
    expect(marks).to_have_count(2)
    expect(marks.first).to_have_attribute("title", re.compile("Model: openai/scripted"))
    page.screenshot(path="test-results/notebook-edit-made.png")
    changed_cell = page.locator(".jp-Notebook .jp-Cell").filter(has_text="[10, 20, 30]")
    changed_cell.locator(".jp-InputPrompt").click()
    changed_cell.get_by_role("button", name="Accept").click()
    expect(marks).to_have_count(1)
    first = notebooks.read(PATH, whole=[])["cells"][0]["metadata"]["openhands"]
    assert (first["approver"], first["accepted"]) == ("user", True)
    notebooks.execute("openhands:remove-provenance")
    expect(marks).to_have_count(0)
    assert all("openhands" not in c["metadata"] for c in notebooks.read(PATH, whole=[])["cells"])

    # All of it is one step of the notebook's own undo.
    page.locator(".jp-Notebook .jp-Cell").first.click()
    notebooks.execute("notebook:undo-cell-action")
    notebooks.wait_for(lambda: sources(notebooks) == SOURCES)

    _run_in_the_kernel(notebooks, panel, model)
    _undo_from_the_panel(notebooks, panel, model)

    # Of the large output nothing was sent for all this but its beginning.
    assert sent and sum(sent) < LARGE / 20


def _run_in_the_kernel(notebooks: Notebooks, panel: Panel, model: ModelServer) -> None:
    """What the agent runs is shown before, and runs as if the person had run it."""
    page = notebooks.page
    model.play(
        call("nb_read", path=PATH, cells=CHANGED),
        call("run_cells", path=PATH, cells=[LOAD["id"], "@1"], why="To see the total."),
        call("finish", message="Done."),
    )
    panel.send("Run the first two cells")
    expect(panel.card).to_contain_text(
        "Run 2 cells in your kernel: analysis.ipynb", timeout=PATIENCE * 1000
    )
    expect(panel.card).to_contain_text("To see the total.")
    expect(panel.card).to_contain_text("Runs in your own kernel")
    expect(panel.card).to_contain_text("Kernel Python 3 (ipykernel) is idle.")
    planned = panel.card.get_by_role("list", name="Cells").get_by_role("listitem")
    expect(planned).to_have_count(2)
    expect(planned.nth(1)).to_contain_text("Code cell @1")
    expect(planned.nth(1)).to_contain_text("total = sum(prices)")
    prompts = page.locator(".jp-Notebook .jp-InputPrompt")
    expect(prompts.nth(1)).to_have_text("[ ]:")
    assert panel.root.evaluate(OVERFLOWING) == []
    page.screenshot(path="test-results/notebook-run-asked.png")

    # Tried in the sandbox, by keyboard: its outputs are on the card, which goes on waiting.
    panel.card.get_by_role("button", name="Try in the sandbox").press("Enter")
    tried = panel.card.get_by_role("region", name="Tried in the sandbox")
    expect(tried).to_contain_text("Tried in the sandbox: Done", timeout=PATIENCE * 1000)
    expect(tried.get_by_role("listitem").nth(1)).to_contain_text("6")
    expect(tried).to_contain_text("The notebook stays as it is")
    expect(prompts.nth(1)).to_have_text("[ ]:")
    assert panel.root.evaluate(OVERFLOWING) == []
    tried.scroll_into_view_if_needed()
    page.screenshot(path="test-results/notebook-run-tried.png")
    panel.card.get_by_role("button", name="Approve").click()
    row = panel.action("Run 2 cells in your kernel: analysis.ipynb")
    expect(row).to_contain_text("Approved by you · Done", timeout=PATIENCE * 1000)
    cells = row.get_by_role("list", name="What came of the cells")
    expect(cells).to_contain_text("@1 done [")
    done = re.search(r"@1 done (\[\d+\])", cells.inner_text())
    assert done, cells.inner_text()
    # Tests before this one may have used the kernel.
    expect(prompts.nth(1)).to_have_text(f"{done[1]}:")
    expect(page.locator(".jp-Notebook .jp-OutputArea-output").first).to_have_text("6")
    page.screenshot(path="test-results/notebook-run-done.png")


def _undo_from_the_panel(notebooks: Notebooks, panel: Panel, model: ModelServer) -> None:
    """The agent edits again, the person types since, and takes the agent's turn back."""
    page = notebooks.page
    larger = "total = max(prices)\nprint(total)"
    ops = [
        {"op": "replace", "id": LOAD["id"], "expect_rev": rev(LOAD), "source": BETTER},
        {"op": "replace", "id": TOTAL["id"], "expect_rev": rev(TOTAL), "source": larger},
        {"op": "insert", "type": "markdown", "source": TITLE, "after": TOTAL["id"]},
    ]
    model.play(
        call("nb_read", path=PATH, cells=CHANGED),
        call("nb_edit", path=PATH, ops=ops),
        call("finish", message="Done."),
    )
    panel.send("Once more")
    panel.card.get_by_role("button", name="Approve").click(timeout=PATIENCE * 1000)
    end = panel.log.get_by_role("article", name="3 cells edited")
    expect(end).to_be_visible(timeout=PATIENCE * 1000)
    marks = page.locator(".jp-Notebook").get_by_role("img", name="Changed by the OpenHands agent")
    expect(marks).to_have_count(3)

    # In the line that the agent changed, in another line of a cell that it changed, in a new cell.
    cells = page.locator(".jp-Notebook .jp-Cell")
    for number, keys, typed in ((0, "Control+Home", "my_"), (1, "Control+End", "\n# mine")):
        cells.nth(number).locator(".cm-content").click()
        page.keyboard.press(keys)
        page.keyboard.type(typed)
    mine = [f"my_{BETTER}", f"{larger}\n# mine", TITLE, SOURCES[2]]
    notebooks.wait_for(lambda: sources(notebooks) == mine)

    # What would go back is shown first, in a narrow window too, and the keyboard gets everywhere.
    page.set_viewport_size({"width": 320, "height": 600})
    end.get_by_role("button", name="Undo").press("Enter")
    dialog = page.get_by_role("dialog")
    shown = dialog.get_by_role("region", name=f"Cells of {PATH}")
    cell = shown.get_by_role("listitem").filter(has_text="code cell @1 is changed back")
    expect(cell.locator(".cm-deletedChunk")).to_contain_text("max")
    expect(shown).to_contain_text("The new Markdown cell is removed")
    expect(shown).to_contain_text("1 cell is left as it is: ")
    expect(shown).to_contain_text("Somebody changed the same lines since.")
    shown.get_by_text("Show both").press("Enter")
    expect(shown.get_by_label(f"Both of {LOAD['id']}")).to_contain_text("my_prices")
    assert dialog.evaluate(OVERFLOWING) == []
    page.screenshot(path="test-results/notebook-undo-asked.png")
    dialog.get_by_role("button", name="Undo").press("Enter")
    page.set_viewport_size({"width": 1280, "height": 720})

    row = panel.log.get_by_role("article", name="Undo of changes")
    expect(row).to_contain_text("is changed back", timeout=PATIENCE * 1000)
    expect(end).to_contain_text("Undone")
    undone = [f"my_{BETTER}", "total = sum(prices)\nprint(total)\n# mine", SOURCES[2]]
    assert sources(notebooks) == undone
    expect(marks).to_have_count(1)
    page.screenshot(path="test-results/notebook-undo-made.png")

    # It is one step of the notebook's own undo, and can be taken back from the panel as well.
    cells.first.locator(".jp-InputPrompt").click()
    notebooks.execute("notebook:undo-cell-action")
    notebooks.wait_for(lambda: sources(notebooks) == mine)
    notebooks.execute("notebook:redo-cell-action")
    notebooks.wait_for(lambda: sources(notebooks) == undone)
    row.get_by_role("button", name="Take back").click()
    dialog.get_by_role("button", name="Undo").click()
    expect(row.first).to_contain_text("Undone", timeout=PATIENCE * 1000)
    assert sources(notebooks) == mine
    expect(marks).to_have_count(3)
