"""What a hook's answer means."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from .config import BLOCKING, Hook
from .running import Ran

BLOCKS = 2
"""The exit code that blocks."""

LONGEST = 10_000
"""Characters of what is told."""

Verb = Literal["go_on", "ask", "block", "fail"]


class Decision(msgspec.Struct, frozen=True):
    """What a hook decided.

    Attributes
    ----------
    verb
        ``go_on``, ``ask`` the person first, ``block``; or it failed where that blocks nothing.
    reason
        Why.
    context
        What the agent is told beside that.
    """

    verb: Verb = "go_on"
    reason: str = ""
    context: str = ""


class _Specific(msgspec.Struct):
    permissionDecision: Literal["allow", "deny", "ask"] | None = None
    permissionDecisionReason: str = ""
    additionalContext: str = ""


class _Answer(msgspec.Struct):
    decision: Literal["approve", "allow", "block", "deny", "ask"] | None = None
    reason: str = ""
    additionalContext: str = ""
    hookSpecificOutput: _Specific = msgspec.field(default_factory=_Specific)


def decide(hook: Hook, ran: Ran) -> Decision:
    """What a hook decided by its exit code and its output.

    An approval counts for nothing: a hook can only make what the gate decides stricter.
    """
    if ran.code is None:
        return failed(hook, f"it took longer than {hook.timeout:g} seconds")
    if ran.code == BLOCKS:
        return Decision("block", _cut(ran.err) or "It gave no reason.")
    if ran.code != 0:
        how = f"signal {-ran.code}" if ran.code < 0 else f"exit code {ran.code}"
        return failed(hook, f"it ended with {how}. {_cut(ran.err)}".strip())
    out = ran.out.strip()
    if not out.startswith("{"):
        tells = hook.event in ("UserPromptSubmit", "SessionStart")
        return Decision(context=_cut(out) if tells else "")
    try:
        given: Any = msgspec.json.decode(out)
        answer = msgspec.convert({k: v for k, v in given.items() if v is not None}, _Answer)
    except (msgspec.DecodeError, RecursionError) as error:
        return failed(hook, f"what it printed is no answer ({str(error)[:200]})")
    return _meant(answer)


def failed(hook: Hook, why: str) -> Decision:
    """What it means that a hook failed."""
    closed = hook.event in BLOCKING and not hook.fails_open
    return Decision("block" if closed else "fail", f"The hook failed: {why}")


def _meant(answer: _Answer) -> Decision:
    specific = answer.hookSpecificOutput
    words = {answer.decision, specific.permissionDecision}
    reason = _cut(specific.permissionDecisionReason or answer.reason)
    context = _cut(specific.additionalContext or answer.additionalContext)
    if words & {"block", "deny"}:
        return Decision("block", reason or "It gave no reason.", context)
    if "ask" in words:
        return Decision("ask", reason, context)
    return Decision(context=context)


def _cut(text: str) -> str:
    text = text.strip()
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
