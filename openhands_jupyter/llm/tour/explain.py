"""What the tour says to everything that it does not understand."""

from __future__ import annotations

from .script import Script, call, finish, reply, setback
from .showcase import ENOUGH, REQUESTS

NO_AI = (
    "This is the guided tour, a fixed script and no AI. It understands only a few tasks, but it "
    "carries them out for real, in the sandbox and with your approval."
)
ADD_A_MODEL = (
    "To get an assistant that can do more, open the OpenHands settings and choose a model and its "
    "key, or set `LLM_MODEL` and `LLM_API_KEY` before JupyterLab starts."
)
SHOW_AROUND_REQUEST = "Show me what you can do"


def greet(request: str) -> Script:
    """Greet, say what this is, and offer what it can do."""
    return (yield from _offer(f"Hello! {NO_AI}\n\n{ADD_A_MODEL}"))


def explain(request: str) -> Script:
    """Say honestly that this is beyond the tour, and offer what it can do."""
    return (yield from _offer(f"That is more than I can do. {NO_AI}\n\n{ADD_A_MODEL}"))


def _offer(text: str) -> Script:
    (answer,) = yield reply(
        text,
        call(
            "ask_user",
            question="Which of these shall I do?",
            options=[SHOW_AROUND_REQUEST, *REQUESTS, ENOUGH],
        ),
    )
    return finish(setback(answer, "the question") or "All right. I am here when you want a look.")
