"""Every setting there is: its type, its default, its name in files and in the environment."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from ..events import CondenserName, Mode
from ..events.agents import DEFAULT_AGENT
from ..events.limits import DEFAULT_STEP_LIMIT
from ..hosts import Preset, Rule
from ..llm.base import Ability, ReasoningEffort

Isolation = Literal["auto", "bubblewrap", "landlock", "docker", "gateway", "none"]
NetworkMode = Literal["off", "allow-list"]
TOUR_MODEL = "tour"

ModelName = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[^\s\x00-\x1f]+$")]
AgentName = Annotated[
    str,
    Meta(max_length=200, pattern=r"^[A-Za-z_][\w-]*$|^[A-Za-z_]\w*(\.\w+)*:[A-Za-z_]\w*$"),
]
"""Of an agent that is known, or an import path, such as ``package.module:Class``."""
BaseUrl = Annotated[str, Meta(max_length=2000, pattern=r"^https?://[^\s]+$")]
FallbackModels = Annotated[list[ModelName], Meta(max_length=10)]
ModelRetries = Annotated[int, Meta(ge=0, le=100)]
ContextWindow = Annotated[int, Meta(ge=512, le=100_000_000)]
MaxOutput = Annotated[int, Meta(ge=1, le=10_000_000)]
StepLimit = Annotated[int, Meta(ge=1, le=100_000)]
CostLimit = Annotated[float, Meta(ge=0, le=1_000_000)]
TokenLimit = Annotated[int, Meta(ge=0, le=1_000_000_000_000)]
TimeLimit = Annotated[float, Meta(ge=0, le=1_000_000)]
Timeout = Annotated[float, Meta(gt=0, le=86_400)]
ImageName = Annotated[
    str, Meta(max_length=300, pattern=r"^(?!.*(\.\.|//|/\.))[A-Za-z0-9][A-Za-z0-9._:/@-]*$")
]
"""As in "Object names" in the reference of the docker command: it becomes part of an address."""
GatewayUrl = Annotated[str, Meta(max_length=2000, pattern=r"^https?://[^\s/]+[^\s]*$")]
KernelName = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[^\s\x00-\x1f]+$")]
RemoteFolder = Annotated[str, Meta(min_length=1, max_length=4096, pattern=r"^[^\x00]+$")]
PauseAfter = Annotated[float, Meta(ge=0, le=100_000)]
ContainerLimit = Annotated[int, Meta(ge=1, le=10_000)]
AbsolutePath = Annotated[str, Meta(max_length=4000, pattern=r"^/[^\x00]*$")]
MemoryLimit = Annotated[float, Meta(ge=0.25, le=100_000)]
ProcessLimit = Annotated[int, Meta(ge=50, le=1_000_000)]
CpuLimit = Annotated[float, Meta(ge=0.05, le=10_000)]
PythonChoice = Annotated[str, Meta(min_length=1, max_length=4096, pattern=r"^[^\x00-\x1f]+$")]
DiskLimit = Annotated[float, Meta(gt=0, le=100_000)]
Prewarm = Annotated[int, Meta(ge=0, le=100)]
IdleTimeout = Annotated[float, Meta(ge=0, le=100_000)]
Url = Annotated[str, Meta(max_length=2000)]
HttpProxy = Annotated[str, Meta(max_length=2000, pattern=r"^http://[^\s/]+/?$")]
Rules = Annotated[list[Annotated[str, Meta(max_length=300)]], Meta(max_length=1000)]
FilePath = Annotated[str, Meta(max_length=4096)]
CheckpointLimit = Annotated[float, Meta(ge=0.01, le=100_000)]
Count = Annotated[int, Meta(ge=0, le=100_000)]
Tokens = Annotated[int, Meta(ge=1_000, le=100_000_000)]
EventLength = Annotated[int, Meta(ge=100, le=1_000_000)]
Pattern = Annotated[str, Meta(min_length=1, max_length=1000)]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings in force. What each of them is says `traits.DESCRIPTIONS`."""

    model: ModelName = TOUR_MODEL
    base_url: BaseUrl | None = None
    fallback_models: FallbackModels = []
    model_timeout: Timeout = 120.0
    model_retries: ModelRetries = 5
    vision: Ability = "auto"
    tool_calls: Ability = "auto"
    prompt_caching: Ability = "auto"
    context_window: ContextWindow | None = None
    max_output_tokens: MaxOutput | None = None
    reasoning_effort: ReasoningEffort = "auto"
    mode: Mode = "agent"
    agent: AgentName = DEFAULT_AGENT
    isolation: Isolation = "auto"
    step_limit: StepLimit = DEFAULT_STEP_LIMIT
    cost_limit: CostLimit = 0.0
    token_limit: TokenLimit = 0
    time_limit: TimeLimit = 0.0
    stuck_detection: bool = True
    timeout: Timeout = 120.0
    docker_image: ImageName | None = None
    gateway_url: GatewayUrl | None = None
    gateway_kernel: KernelName | None = None
    gateway_folder: RemoteFolder | None = None
    python: PythonChoice | None = None
    requirements: PythonChoice | None = None
    docker_remote_root: AbsolutePath | None = None
    docker_pause_after: PauseAfter = 10.0
    docker_max_containers: ContainerLimit = 20
    docker_containers: Literal["session", "shared"] = "session"
    memory_limit: MemoryLimit | None = None
    process_limit: ProcessLimit = 4096
    cpu_limit: CpuLimit | None = None
    disk_limit: DiskLimit = 10.0
    prewarm: Prewarm = 2
    idle_timeout: IdleTimeout = 240.0
    network: NetworkMode = "off"
    network_presets: list[Preset] = []
    network_rules: Rules = []
    pip_index: Url | None = None
    npm_registry: Url | None = None
    conda_channels: Url | None = None
    ca_bundle: FilePath | None = None
    network_proxy: HttpProxy | None = None
    trusted_networks: list[str] = []
    checkpoints: bool = True
    checkpoint_limit: CheckpointLimit = 2.0
    checkpoint_exclude: list[Pattern] = []
    condenser: CondenserName = "pipeline"
    condenser_model: ModelName | None = None
    condenser_attention_window: Count = 10
    condenser_keep_first: Count = 1
    condenser_max_tokens: Tokens | None = None
    condenser_max_event_length: EventLength = 10_000


_SWITCHES = {"true": "on", "false": "off"}
"""OpenHands' own words for what a model is able to do."""

_TYPES = get_type_hints(Settings, include_extras=True)
NAMES = tuple(Settings.__struct_fields__)


def _require_absolute(path: str) -> None:
    if not path.startswith("/") or "\0" in path:
        raise ValueError(f"{path!r} is not an absolute path, such as /etc/ssl/our-bundle.pem")


_CHECKS: dict[str, Callable[[Any], object]] = {
    "network_rules": lambda rules: [Rule.parse(rule) for rule in rules],
    "pip_index": Rule.of_url,
    "npm_registry": Rule.of_url,
    "conda_channels": Rule.of_url,
    "ca_bundle": _require_absolute,
    "trusted_networks": lambda networks: [ipaddress.ip_network(network) for network in networks],
}
"""Raise ValueError for what a type cannot tell."""


def convert(name: str, value: Any, *, from_text: bool = False) -> Any:
    """`value` as the type of the setting `name`.

    Parameters
    ----------
    name
        One of `NAMES`.
    value
        Anything that TOML, JSON or traitlets give.
    from_text
        Whether numbers may come as text, and lists with commas, as in the environment.

    Raises
    ------
    msgspec.ValidationError
        When it does not fit; the message says what was expected.
    """
    kind = _TYPES[name]
    if kind == Ability and str(value).lower() in _SWITCHES:
        value = _SWITCHES[str(value).lower()]
    if from_text and _is_list(kind):
        value = [part for part in re.split(r"[\s,]+", value) if part]
    converted = msgspec.convert(value, kind, strict=not from_text)
    if name in _CHECKS and converted is not None:
        try:
            _CHECKS[name](converted)
        except ValueError as error:
            raise msgspec.ValidationError(str(error)) from error
    return converted


def choices(name: str) -> tuple[str, ...]:
    """The words that a setting may be; empty where it is no choice between words."""
    return get_args(_TYPES[name]) if get_origin(_TYPES[name]) is Literal else ()


def _is_list(kind: Any) -> bool:
    bare = kind.__origin__ if get_origin(kind) is Annotated else kind
    return get_origin(bare) is list
