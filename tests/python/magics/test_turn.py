"""When a message is answered, and with what."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from openhands_jupyter.magics.task import CannotWait, Task
from openhands_jupyter.magics.turn import Turn


def state(id: int, name: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "type": "AgentStateChangedObservation", "state": name, **more}


def said(id: int, cause: int, content: str) -> dict[str, Any]:
    return {
        "id": id,
        "type": "AgentMessageAction",
        "source": "agent",
        "cause": cause,
        "content": content,
    }


def test_a_turn_ends_with_its_own_answer() -> None:
    turn = Turn(5)
    # The end of what was before the message, told after it.
    for event in [said(6, 3, "before"), state(7, "finished"), state(8, "running")]:
        turn.apply(event)
        assert not turn.ended
    for event in [said(9, 8, "after"), state(10, "awaiting_user_input", reason="Done.")]:
        turn.apply(event)
    assert (turn.ended, turn.answer, turn.state) == (True, "after", "awaiting_user_input")
    assert turn.reason == ""


def test_a_turn_may_end_before_the_agent_did_anything() -> None:
    turn = Turn(5)
    turn.apply(state(6, "error", reason="No key.", hint="Set one."))
    assert (turn.ended, turn.reason) == (True, "No key. Set one.")


async def test_a_task_is_awaited() -> None:
    task = Task("x", can_block=False)
    with pytest.raises(CannotWait, match="await task"):
        task.wait()
    asyncio.get_running_loop().call_soon(lambda: task.update(state="finished", answer="42"))
    assert (await task).answer == "42"
    assert task.wait().answer == (await task).answer


async def test_an_old_kernel_says_that_it_cannot_wait() -> None:
    task = Task("x", can_await=False)
    with pytest.raises(CannotWait, match="ipykernel 7"):
        await task
    task.update(state="finished")
    assert await task is task


def test_a_task_may_not_end_in_time() -> None:
    with pytest.raises(TimeoutError, match=r"0\.01 seconds"):
        Task("x").wait(0.01)
