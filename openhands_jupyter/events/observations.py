"""What came of actions, and what happened in the environment."""

from __future__ import annotations

from typing import Literal

import msgspec

from .event import Observation

AgentState = Literal[
    "loading",
    "running",
    "awaiting_user_input",
    "awaiting_user_confirmation",
    "rate_limited",
    "paused",
    "stopped",
    "finished",
    "rejected",
    "error",
]
NetworkRefusal = Literal["not_listed", "ip_address", "local_address", "unresolved", "unreachable"]
IsolationLevel = Literal["green", "amber", "red"]


class UserRejectObservation(Observation, frozen=True, kw_only=True, tag=True):
    """The action in ``cause`` was not executed because the person said no.

    Attributes
    ----------
    reason
        What the person said.
    """

    reason: str = ""


class ErrorObservation(Observation, frozen=True, kw_only=True, tag=True):
    """Something went wrong.

    Attributes
    ----------
    code
        Short and stable, such as ``model_auth`` or ``interrupted``.
    message
        A sentence for the person and the model.
    hint
        What to do about it.
    """

    code: str
    message: str
    hint: str = ""


class AgentStateChangedObservation(Observation, frozen=True, kw_only=True, tag=True):
    """The session entered another state.

    Attributes
    ----------
    state
        The state entered.
    reason
        Why, as a sentence.
    code
        Short and stable when something is wrong, such as ``step_limit``.
    hint
        What the person can do about it.
    worked
        Seconds that the agent has worked in the session, told when it stops working.
    retry_in
        Seconds after which it goes on by itself; None where somebody has to act.
    """

    state: AgentState
    reason: str = ""
    code: str = ""
    hint: str = ""
    worked: float | None = None
    retry_in: float | None = None


class ModelUsageObservation(Observation, frozen=True, kw_only=True, tag=True):
    """What one model response took.

    Attributes
    ----------
    caller
        Who asked for it: ``agent`` for a step of the agent, or another part of the program, such
        as ``condenser`` or ``title``.
    prompt_tokens, completion_tokens, cached_tokens
        Tokens as the provider counted them.
    cost
        US dollars, or None where the price is not known (which is not zero).
    seconds
        From request to last byte.
    """

    response_id: str
    model: str
    caller: str = "agent"
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0


class ModelNoticeObservation(Observation, frozen=True, kw_only=True, tag=True):
    """Something about a model that the person should know, though the work goes on.

    Attributes
    ----------
    model
        The model that is asked from here on.
    code
        ``small_window``, ``model_no_images``, ``model_back`` (the session's own model answers
        again), or that of the error for which a fallback model is asked.
    message, hint
        As in an error.
    """

    model: str
    code: str
    message: str
    hint: str = ""


class Check(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One canary of the sandbox's self-test.

    Attributes
    ----------
    name
        What was tried, such as ``write outside the workspace``.
    held
        Whether the sandbox stopped it.
    detail
        What was seen.
    """

    name: str
    held: bool
    detail: str = ""


class IsolationObservation(Observation, frozen=True, kw_only=True, tag=True):
    """The sandbox started; what it enforces, as its self-test found.

    Attributes
    ----------
    level
        ``green`` (everything held), ``amber`` (something did not) or ``red`` (no sandbox).
    backend
        ``bubblewrap``, ``landlock``, ``docker``, ``gateway`` or ``none``.
    summary
        One sentence for the status strip.
    notice
        Why this backend, where it is not the one asked for.
    checks
        The self-test's canaries.
    missing
        What is not enforced, a phrase each.
    workspace
        The folder that the work is done in, where that is on another machine; else empty.
    network
        The places that programs in it might reach when it started, such as ``pypi.org`` or
        ``example.org:8080``; None where it has no network that could be guarded.
    python
        The Python of its kernel and shell, such as ``Python 3.11 in /opt/conda``; empty where that
        is not known, or cannot be used.
    packages
        Whether packages can be installed on top of that, into a folder that lasts.
    secrets
        Names of the secrets that it was given.
    """

    level: IsolationLevel
    backend: str
    summary: str
    notice: str = ""
    checks: list[Check] = []
    missing: list[str] = []
    workspace: str = ""
    network: list[str] | None = None
    python: str = ""
    packages: bool = False
    secrets: list[str] = []


class SandboxReleasedObservation(Observation, frozen=True, kw_only=True, tag=True):
    """The sandbox ended while nothing ran in it; its variables and processes are gone.

    Attributes
    ----------
    reason
        Why, as a sentence.
    """

    reason: str


class NetworkRefusedObservation(Observation, frozen=True, kw_only=True, tag=True):
    """A program in the sandbox wanted to reach a place and could not; told once an action.

    ``cause`` is the command, cell or fetch that ran, or else the last one, which left the program
    running. It is answered by an observation of its own.

    Attributes
    ----------
    host, port
        The place: a name, or an IP address. It comes from the program: untrusted.
    reason
        ``not_listed``, which the person can change; or another one, which they cannot.
    """

    host: str
    port: int
    reason: NetworkRefusal
