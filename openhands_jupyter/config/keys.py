"""How each setting is called in ``config.toml``, in the environment, and on the command line."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Literal, NamedTuple

from .settings import NAMES


class FileKey(NamedTuple):
    """A setting's place in ``config.toml``, in OpenHands' own words where it has one."""

    section: str
    key: str

    def __str__(self) -> str:
        return f"{self.section}.{self.key}"

    @property
    def variable(self) -> str:
        """The environment variable of the same meaning; core's have no prefix."""
        name = self.key if self.section == "core" else f"{self.section}_{self.key}"
        return name.upper()


_NAMES = {
    "core": {
        "default_agent": "agent",
        "max_budget_per_task": "cost_limit",
        "max_iterations": "step_limit",
        "max_minutes_per_task": "time_limit",
        "max_tokens_per_task": "token_limit",
    },
    "llm": {
        "model": "model",
        "base_url": "base_url",
        "fallback_models": "fallback_models",
        "timeout": "model_timeout",
        "num_retries": "model_retries",
        "vision": "vision",
        "native_tool_calling": "tool_calls",
        "caching_prompt": "prompt_caching",
        "max_input_tokens": "context_window",
        "max_output_tokens": "max_output_tokens",
        "reasoning_effort": "reasoning_effort",
    },
    "agent": {"stuck_detection": "stuck_detection"},
    "condenser": {
        "type": "condenser",
        "llm_config": "condenser_model",
        "attention_window": "condenser_attention_window",
        "keep_first": "condenser_keep_first",
        "max_tokens": "condenser_max_tokens",
        "max_event_length": "condenser_max_event_length",
    },
    "security": {"mode": "mode"},
    "sandbox": {
        "isolation": "isolation",
        "timeout": "timeout",
        "base_container_image": "docker_image",
        **{
            name: name
            for name in (
                "docker_containers",
                "docker_max_containers",
                "docker_pause_after",
                "docker_remote_root",
                "gateway_url",
                "gateway_kernel",
                "gateway_folder",
                "python",
                "requirements",
                "memory_limit",
                "process_limit",
                "cpu_limit",
                "disk_limit",
                "prewarm",
                "idle_timeout",
                "network",
                "network_presets",
                "network_rules",
                "pip_index",
                "npm_registry",
                "conda_channels",
                "ca_bundle",
                "checkpoints",
                "checkpoint_limit",
                "checkpoint_exclude",
            )
        },
    },
}
FILE_KEYS = {
    FileKey(section, key): name for section, keys in _NAMES.items() for key, name in keys.items()
}
CONFIRMATION_KEY = FileKey("security", "confirmation_mode")
"""OpenHands' switch: true asks for risky actions, false asks for none."""
API_KEY = FileKey("llm", "api_key")
"""Not a setting but a secret; see `secrets`."""
AGENT_MODEL = FileKey("agent", "llm_config")
"""OpenHands' way to name the group ``[llm.NAME]`` that agents use: the model."""

OPTIONS = {
    "model": "--model",
    "mode": "--mode",
    "agent": "--agent",
    "step_limit": "--max-steps",
    "cost_limit": "--budget",
}
"""Settings by name, and the options of the command line that set them."""

LONGEST_WORD = 60
"""Characters of a word that may be a misspelt one."""

OF_A_MODEL = (
    "base_url",
    "vision",
    "tool_calls",
    "prompt_caching",
    "context_window",
    "max_output_tokens",
    "reasoning_effort",
)
"""Settings that are said of a model, and so hold for no other one."""

GROUP_KEYS = {
    key.key: name
    for key, name in FILE_KEYS.items()
    if name in ("model", "model_timeout", *OF_A_MODEL)
}
"""Keys of a group ``[llm.NAME]``, beside `API_KEY`, and what they take the place of for it."""

ADMINISTRATOR_SETTINGS = frozenset({"network_proxy", "trusted_networks"})
"""What only the server's configuration sets: they open networks that are not the person's."""

WORKSPACE_SETTINGS: dict[str, Literal["choose", "lower"]] = {
    "agent": "choose",
    "model": "choose",
    "step_limit": "lower",
    "timeout": "lower",
}
"""What a workspace's own file may set, as it comes from others: nothing that weakens safety.

What is to be chosen is looked at more closely (`layers`); a limit may only become lower.
"""


def similar_key(key: FileKey) -> FileKey | None:
    """What a person who wrote `key` may have meant; None where nothing is near."""
    named = {name: place for place, name in FILE_KEYS.items()}
    if key.key in NAMES and (found := named.get(key.key)) and found != key:
        # The setting's own name, as it is in the panel's API and for traitlets.
        return found
    known = [*FILE_KEYS, CONFIRMATION_KEY, API_KEY, AGENT_MODEL]
    here = [other.key for other in known if other.section == key.section]
    if near := nearest(key.key, here):
        return FileKey(key.section, near)
    elsewhere = [other for other in known if other.section != key.section]
    if near := nearest(key.key, (other.key for other in elsewhere)):
        return next(other for other in elsewhere if other.key == near)
    return None


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that is closest to one that is not; empty where none is close."""
    if len(word) > LONGEST_WORD:
        return ""
    # In a short word, one letter is much of it.
    cutoff = 0.75 if len(word) > 4 else 0.6
    return next(iter(get_close_matches(word, list(known), 1, cutoff)), "")
