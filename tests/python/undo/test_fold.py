"""What the log says of turns and checkpoints, event by event."""

from __future__ import annotations

import msgspec

from openhands_jupyter.events import (
    AgentStateChangedObservation,
    CellEdit,
    CheckpointObservation,
    Event,
    FilesRestoredObservation,
    NoCheckpointObservation,
    NotebookEditAction,
    NotebookEditObservation,
    NotebookRestored,
    RewindAction,
    State,
    UndoAction,
    UserMessageAction,
)


def no_edit(action: int) -> bool:
    """Says that no edit of notebooks is kept."""
    return False


def folded(*events: Event) -> State:
    state = State()
    for number, event in enumerate(events):
        state.apply(msgspec.structs.replace(event, id=number))
    return state


def before(action: int) -> CheckpointObservation:
    return CheckpointObservation(action=action, checkpoint=f"c{action}")


def end(first: int, checkpoint: str = "end", changed: int = 1) -> CheckpointObservation:
    return CheckpointObservation(
        action=first, checkpoint=checkpoint, since=f"c{first}", changed=changed
    )


def is_now(state: str) -> AgentStateChangedObservation:
    return AgentStateChangedObservation(state=state)


def test_a_turn_goes_from_its_first_action_over_an_approval_to_its_end() -> None:
    events = [is_now("running"), before(10), before(11), is_now("awaiting_user_confirmation")]
    events += [is_now("running"), before(12)]
    turn = folded(*events).files.open_turn
    assert turn is not None and (turn.first, turn.before, turn.latest) == (10, "c10", "c12")
    files = folded(*events, is_now("finished"), end(10)).files
    assert files.open_turn is None
    assert (files.turns[10].latest, files.turns[10].closed) == ("end", True)
    assert files.last_turn(no_edit) == files.turns[10]


def test_a_turn_that_a_server_did_not_survive_stays_unclosed() -> None:
    files = folded(
        is_now("running"), before(10), is_now("awaiting_user_input"), is_now("running"), before(20)
    ).files
    assert not files.turns[10].closed
    assert files.open_turn is not None and files.open_turn.first == 20


def test_a_turn_that_changed_nothing_is_not_the_last() -> None:
    files = folded(before(10), end(10), is_now("running"), before(20), end(20, changed=0)).files
    assert files.last_turn(no_edit) == files.turns[10]


def test_the_state_before_an_event() -> None:
    files = folded(before(10), before(12), end(10), before(20)).files
    assert [files.before(n) for n in (0, 10, 11, 12, 13, 20, 21)] == [
        "c10",
        "c10",
        "c12",
        "c12",
        "c20",
        "c20",
        None,
    ]


def test_nobody_knows_the_state_before_what_had_no_checkpoint() -> None:
    gap = NoCheckpointObservation(action=12, code="x", message="")
    files = folded(before(10), gap, before(20)).files
    assert [files.before(n) for n in (10, 11, 12, 15, 20)] == ["c10", None, None, None, "c20"]


def test_undone_and_had_again() -> None:
    events = [before(100), end(100), UserMessageAction(content="x"), UndoAction(turn=100)]
    done = FilesRestoredObservation(cause=3, target="c100", checkpoint="c", restored=1)
    files = folded(*events, before(3), done).files
    assert files.turns[100].undone and files.last_turn(no_edit) is None
    assert files.turns[3].closed and files.latest == "c"
    again = [UndoAction(turn=3), before(6)]
    again += [FilesRestoredObservation(cause=6, target="c3", checkpoint="d", restored=1)]
    files = folded(*events, before(3), done, *again).files
    assert not files.turns[100].undone and files.turns[3].undone
    assert files.last_turn(no_edit) == files.turns[100]


def test_an_undo_that_failed_undid_nothing() -> None:
    files = folded(before(100), end(100), UndoAction(turn=100), before(2)).files
    assert not files.turns[100].undone


def test_a_rewind_undoes_what_came_after() -> None:
    events = [before(0), end(0), before(2), end(2), RewindAction(event=2), before(4)]
    done = FilesRestoredObservation(cause=4, target="c2", checkpoint="e", restored=1)
    files = folded(*events, done).files
    assert [files.turns[n].undone for n in (0, 2, 4)] == [False, True, False]
    assert files.last_turn(no_edit) == files.turns[0]


EDIT = NotebookEditAction(path="a.ipynb", operations=[])
CELL = CellEdit(id="c", what="changed", cell_type="code", before="a", after="b")
EDITED = NotebookEditObservation(path="a.ipynb", delivery="tab", nb_rev="r", cells=[CELL])


def edited(action: int) -> NotebookEditObservation:
    return msgspec.structs.replace(EDITED, cause=action)


def test_edits_of_notebooks_make_a_turn_with_or_without_files() -> None:
    events = [is_now("running"), EDIT, before(1), edited(1), EDIT, before(4), edited(4)]
    kept = folded(*events, end(1, changed=0)).files
    assert (kept.turns[1].cells, kept.edits_of(1)) == (2, [1, 4])
    assert kept.last_turn(lambda id: id == 4) == kept.turns[1]
    assert kept.last_turn(no_edit) is None, "nothing is kept of it"

    events = [is_now("running"), EDIT, edited(1), is_now("finished"), is_now("running"), EDIT]
    files = folded(*events, edited(5), is_now("finished"), UndoAction(turn=1)).files
    assert list(files.turns) == [1, 5]
    assert (files.edits_of(1), files.edits_of(5)) == ([1], [5, 8])
    assert files.latest is None
    undone = FilesRestoredObservation(
        cause=8,
        target="",
        checkpoint="",
        notebooks=[NotebookRestored(path="a.ipynb", cells=[CELL])],
    )
    files = folded(*events, edited(5), is_now("finished"), UndoAction(turn=1), undone).files
    assert files.turns[1].undone and files.edits_of(8) == [8] and files.edits_of(5) == [5]
    assert files.edits_since(5) == [5, 8]
