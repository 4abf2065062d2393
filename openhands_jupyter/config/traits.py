"""Every setting as a trait of the server's configuration, with what is to be said of it."""

from __future__ import annotations

from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from traitlets import Bool, Dict, Enum, Float, Integer, List, TraitError, TraitType, Unicode

from .settings import NAMES, Settings

DESCRIPTIONS = {
    "model": (
        "The language model of new sessions, as LiteLLM names it, such as "
        "``anthropic/claude-sonnet-4-5``; the name of a group ``[llm.NAME]`` of ``config.toml``; "
        "or ``tour`` for the guided tour, which needs no key."
    ),
    "base_url": (
        "Address that the model is reached at, such as ``http://localhost:11434/v1`` for a local "
        "one. By default the provider's own."
    ),
    "fallback_models": (
        "Models that are asked in this order when the model fails for good, such as "
        "``openai/gpt-5-mini``. Which one answered is on the timeline."
    ),
    "model_timeout": (
        "Seconds without a piece of a model's answer after which the call is given up. An answer "
        "that goes on is never cut."
    ),
    "model_retries": (
        "How often a model is asked again that takes no more requests, fails or cannot be reached."
    ),
    "vision": (
        "Whether the model is shown images. With ``auto`` it is, if LiteLLM knows it for a model "
        "that sees them; ``on`` is for one that LiteLLM does not know, such as a local one."
    ),
    "tool_calls": (
        "Whether the model calls tools by its provider's own means. With ``auto`` it does, unless "
        "it is known not to; ``off`` has it write its calls as text."
    ),
    "prompt_caching": (
        "Whether a prompt is marked for providers that keep its beginning only where they are told "
        "to. With ``auto`` it is for Claude; others keep it by themselves."
    ),
    "context_window": (
        "Tokens of a prompt and its answer together that the model takes. By default as many as "
        "LiteLLM or the local server says. Ollama is told to load the model so (``num_ctx``)."
    ),
    "max_output_tokens": "Tokens that an answer of the model may have. By default its most.",
    "reasoning_effort": (
        "How much the model thinks before it answers: ``low``, ``medium``, ``high``; ``auto`` "
        "leaves it to the provider."
    ),
    "mode": (
        "How much may happen without asking in new sessions: ``ask`` only reads, ``agent`` asks "
        "before what is risky. ``auto`` asks nothing and can only be chosen for one run, in the "
        "panel or on the command line."
    ),
    "agent": (
        "The agent of new sessions: ``codeact``, ``readonly``, ``planner``, ``swe``, one that is "
        "installed, or an import path such as ``package.module:Class``."
    ),
    "isolation": (
        "What the agent's code runs in: ``auto`` is the best sandbox that works here, "
        "``bubblewrap``, ``landlock`` and ``docker`` insist on one of them, ``gateway`` is a "
        "kernel of a remote Jupyter server, ``none`` is this computer as it is, with all that the "
        "server's user may do."
    ),
    "step_limit": "Agent steps that a new session may take before it pauses.",
    "cost_limit": (
        "US dollars that a new session may cost before it pauses; 0 for no limit. Tokens of models "
        "whose price is not known count as $10 a million."
    ),
    "token_limit": "Tokens that a new session may use before it pauses; 0 for no limit.",
    "time_limit": (
        "Minutes that the agent may work in a new session before it pauses; 0 for no limit. "
        "Waiting for the person does not count."
    ),
    "stuck_detection": (
        "Whether an agent that does the same again and again is told so, and paused if that does "
        "not help."
    ),
    "timeout": "Seconds after which a command or a cell is stopped.",
    "docker_image": "The image of the containers, where the isolation is ``docker``.",
    "gateway_url": (
        "Address of the remote Jupyter server, Kernel Gateway or Enterprise Gateway, where the "
        "isolation is ``gateway``. By default ``GatewayClient.url``. How to log in, certificates "
        "and timeouts are those of ``GatewayClient`` in any case."
    ),
    "gateway_kernel": (
        "The name of the kernelspec at the gateway. By default that server's default."
    ),
    "gateway_folder": (
        "The folder at the gateway to work in. By default the one its kernels start in."
    ),
    "python": (
        "The Python of the agent's kernel and shell: the name of a kernelspec, or the path of an "
        "environment's folder or its Python. By default the one that the server runs in."
    ),
    "requirements": (
        "A requirements file, relative to the root folder: what it lists is installed once, when "
        "somebody asks for it in the settings, and then there in every sandbox."
    ),
    "docker_remote_root": (
        "Where the Docker daemon's machine has what the server's root folder has here, if the "
        "daemon is on another machine."
    ),
    "docker_pause_after": (
        "Minutes without anything to do after which a container is paused; 0 for never."
    ),
    "docker_max_containers": (
        "How many sandboxes may be in Docker at a time, of all who use that daemon."
    ),
    "docker_containers": (
        "Whether each ``session`` has a container of its own, or those of a workspace have a "
        "``shared`` one, in which nothing keeps them from each other."
    ),
    "memory_limit": (
        "Gigabytes of memory for everything in a sandbox together. By default three quarters of "
        "what the server may use."
    ),
    "process_limit": "Processes and threads that may be in a sandbox.",
    "cpu_limit": "Processors for everything in a sandbox. By default all.",
    "disk_limit": "Gigabytes that one action may add to the disk.",
    "prewarm": (
        "Sandboxes that may stand ready before their session's first action, so that it starts at "
        "once; 0 to start each one only when it is needed."
    ),
    "idle_timeout": (
        "Minutes without use after which a session's sandbox is released, its variables and "
        "processes with it; 0 for never."
    ),
    "network": (
        "The network of new sandboxes: ``off``, or ``allow-list`` for the hosts that are listed, "
        "and those that the person allows when they are refused."
    ),
    "network_presets": "Sets of hosts that are listed: ``python``, ``npm``, ``conda``, ``github``.",
    "network_rules": (
        "Hosts that are listed, such as ``example.org``, ``*.example.org`` or, with another port "
        "than 443, ``example.org:8080``. Where this is locked, people cannot add any either when "
        "one is refused."
    ),
    "pip_index": "URL of the package index for pip and uv in a sandbox.",
    "npm_registry": "URL of the registry for npm in a sandbox.",
    "conda_channels": "URL below which conda in a sandbox finds channels.",
    "ca_bundle": (
        "A file of certificates (PEM) that programs in a sandbox trust, in place of the system's."
    ),
    "network_proxy": (
        "URL (``http://``) of the proxy that what leaves a sandbox goes through. By default that "
        "of the server's environment. Nobody else can set it."
    ),
    "trusted_networks": (
        "Networks, such as ``10.20.0.0/16``, that a sandbox may reach although they are not of the "
        "public internet. Nobody else can set it."
    ),
    "checkpoints": (
        "Whether the files of the workspace are kept before each step, so that it can be undone."
    ),
    "checkpoint_limit": "Gigabytes that the checkpoints of one workspace may take.",
    "checkpoint_exclude": (
        "Names and paths that are no part of checkpoints, besides the usual caches, such as "
        '``["data", "models/*.bin"]``.'
    ),
    "condenser": (
        "How a long session is made to fit the model's window: ``pipeline`` (old results go, then "
        "older steps are summed up), ``llm`` (summed up at once), ``observation_masking``, "
        "``conversation_window`` (older steps go), ``noop`` (not at all)."
    ),
    "condenser_model": (
        "The model, or group ``[llm.NAME]``, that writes the summaries. By default, and where it "
        "fails, the session's own."
    ),
    "condenser_attention_window": "How many of the newest results always stay.",
    "condenser_keep_first": "How many messages and steps at the beginning always stay.",
    "condenser_max_tokens": (
        "Tokens of a prompt that is condensed. By default four fifths of the model's window."
    ),
    "condenser_max_event_length": "Characters of one result that a summary is made from.",
}


class _Kept(TraitType[Any, Any]):
    """Keeps a value that does not fit, so that `Config` tells of it with all other problems.

    Jupyter takes nothing more of an extension's configuration after the first such value, and goes
    on: what the administrator has locked would not be.
    """

    def validate(self, obj: Any, value: Any) -> Any:
        try:
            return super().validate(obj, value)  # type: ignore[misc]
        except TraitError:
            return value


def kept(kind: type[TraitType[Any, Any]]) -> type[TraitType[Any, Any]]:
    """The kind of trait, with any value."""
    return type(kind.__name__, (_Kept, kind), {})


_KINDS = {bool: kept(Bool), float: kept(Float), int: kept(Integer), str: kept(Unicode)}
LIST, DICT, _ENUM = kept(List), kept(Dict), kept(Enum)


def traits() -> dict[str, TraitType[Any, Any]]:
    """A trait for each setting, None where the server's configuration says nothing of it."""
    kinds = get_type_hints(Settings)
    return {name: _trait(kinds[name], DESCRIPTIONS[name]).tag(config=True) for name in NAMES}


def _trait(kind: Any, description: str) -> TraitType[Any, Any]:
    options: dict[str, Any] = {"default_value": None, "allow_none": True, "help": description}
    if NoneType in get_args(kind):
        kind = get_args(kind)[0]
    if get_origin(kind) is list:
        return LIST(Unicode(), **options)
    if get_origin(kind) is Literal:
        return _ENUM(get_args(kind), **options)
    return _KINDS[kind](**options)
