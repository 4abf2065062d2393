"""The bodies of requests, and their queries."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ..config import Isolation
from ..config.secrets import SecretValue
from ..config.settings import (
    AgentName,
    BaseUrl,
    ContextWindow,
    CostLimit,
    CpuLimit,
    DiskLimit,
    FallbackModels,
    FilePath,
    GatewayUrl,
    IdleTimeout,
    ImageName,
    KernelName,
    MaxOutput,
    MemoryLimit,
    ModelName,
    ModelRetries,
    NetworkMode,
    Prewarm,
    ProcessLimit,
    PythonChoice,
    RemoteFolder,
    Rules,
    StepLimit,
    TimeLimit,
    Timeout,
    TokenLimit,
    Url,
)
from ..events import CellDecision, Command, Decision, Mode, NetworkAccess
from ..hosts import Preset
from ..llm.base import Ability, ReasoningEffort
from ..notebooks.editing.drafts import LONGEST_SOURCE
from .context import SentContext

Title = Annotated[str, Meta(max_length=200)]
Content = Annotated[str, Meta(min_length=1, max_length=1_000_000)]
Reason = Annotated[str, Meta(max_length=10_000)]
SecretName = Annotated[str, Meta(max_length=64)]
Id = Annotated[int, Meta(ge=0)]
CheckpointId = Annotated[str, Meta(pattern=r"^[0-9]{8,20}-[0-9a-f]{8}$")]
McpTrust = (
    bool
    | Literal["reads"]
    | Annotated[list[Annotated[str, Meta(max_length=1000)]], Meta(max_length=1000)]
)
Paths = Annotated[list[Annotated[str, Meta(max_length=20_000)]], Meta(max_length=10_000)]


class _Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request; a field that it does not know is refused, not ignored."""


class NewSession(_Body, frozen=True, kw_only=True):
    """A session to begin; what is left out comes from the settings."""

    title: Title = ""
    workspace: Annotated[str, Meta(max_length=4096, pattern=r"^[^\x00]*$")] | None = None
    model: ModelName | None = None
    mode: Mode | None = None
    agent: AgentName | None = None


class SessionChanges(_Body, frozen=True, kw_only=True):
    """What to change of a session."""

    title: Title | None = None
    mode: Mode | None = None
    model: ModelName | None = None
    agent: AgentName | None = None
    step_limit: StepLimit | None = None
    cost_limit: CostLimit | None = None
    token_limit: TokenLimit | None = None
    time_limit: TimeLimit | None = None
    stuck_detection: bool | None = None
    secrets: Annotated[list[SecretName], Meta(max_length=100)] | None = None


class NewMessage(_Body, frozen=True, kw_only=True):
    """What the person says."""

    content: Content
    context: SentContext = []


class DecisionOnCell(_Body, frozen=True, kw_only=True):
    """What is decided otherwise for one cell of an edit that is approved."""

    id: Annotated[str, Meta(max_length=1000)]
    decision: Decision
    source: Annotated[str, Meta(max_length=LONGEST_SOURCE)] | None = None


Cells = Annotated[list[DecisionOnCell], Meta(max_length=10_000)]


class NewDecision(_Body, frozen=True, kw_only=True):
    """The person's decision on an action, and on cells where that is an edit of a notebook."""

    decision: Decision
    reason: Reason = ""
    cells: Cells | None = None


class NewDryRun(_Body, frozen=True, kw_only=True):
    """What the person has decided of cells so far, of an edit that is to be tried."""

    cells: Cells | None = None


class NewCommand(_Body, frozen=True, kw_only=True):
    """What the agent is to do."""

    command: Command


class NewUndo(_Body, frozen=True, kw_only=True):
    """What is to be undone; the last turn if ``turn`` is left out."""

    turn: Id | None = None
    force: Paths = []


class NewRewind(_Body, frozen=True, kw_only=True):
    """What is to be gone back to before, and whether cells are run again."""

    event: Id
    replay: bool = False
    force: Paths = []


class ClientMessage(_Body, frozen=True, kw_only=True, tag_field="type", tag="UserMessageAction"):
    """A message, as a client's event."""

    content: Content
    context: SentContext = []


class ClientDecision(_Body, frozen=True, kw_only=True, tag_field="type", tag="ConfirmationAction"):
    """A decision on the action in ``cause``, as a client's event."""

    cause: Id
    decision: Decision
    reason: Reason = ""
    cells: Cells | None = None


class ClientCommand(
    _Body, frozen=True, kw_only=True, tag_field="type", tag="ChangeAgentStateAction"
):
    """A command, as a client's event."""

    command: Command


class ClientNetworkAccess(
    _Body, frozen=True, kw_only=True, tag_field="type", tag="NetworkAccessAction"
):
    """What a session's sandbox may reach, as a client's event."""

    host: Annotated[str, Meta(min_length=1, max_length=300)]
    port: Annotated[int, Meta(ge=1, le=65535)]
    access: NetworkAccess


ClientEvent = ClientMessage | ClientDecision | ClientCommand | ClientNetworkAccess


class SettingsChanges(_Body, frozen=True, kw_only=True):
    """Settings to keep from the panel; null removes the panel's value."""

    model: ModelName | UnsetType | None = UNSET
    base_url: BaseUrl | UnsetType | None = UNSET
    fallback_models: FallbackModels | UnsetType | None = UNSET
    model_timeout: Timeout | UnsetType | None = UNSET
    model_retries: ModelRetries | UnsetType | None = UNSET
    vision: Ability | UnsetType | None = UNSET
    tool_calls: Ability | UnsetType | None = UNSET
    prompt_caching: Ability | UnsetType | None = UNSET
    context_window: ContextWindow | UnsetType | None = UNSET
    max_output_tokens: MaxOutput | UnsetType | None = UNSET
    reasoning_effort: ReasoningEffort | UnsetType | None = UNSET
    mode: Mode | UnsetType | None = UNSET
    agent: AgentName | UnsetType | None = UNSET
    isolation: Isolation | UnsetType | None = UNSET
    docker_image: ImageName | UnsetType | None = UNSET
    gateway_url: GatewayUrl | UnsetType | None = UNSET
    gateway_kernel: KernelName | UnsetType | None = UNSET
    gateway_folder: RemoteFolder | UnsetType | None = UNSET
    python: PythonChoice | UnsetType | None = UNSET
    requirements: PythonChoice | UnsetType | None = UNSET
    memory_limit: MemoryLimit | UnsetType | None = UNSET
    process_limit: ProcessLimit | UnsetType | None = UNSET
    cpu_limit: CpuLimit | UnsetType | None = UNSET
    disk_limit: DiskLimit | UnsetType | None = UNSET
    prewarm: Prewarm | UnsetType | None = UNSET
    idle_timeout: IdleTimeout | UnsetType | None = UNSET
    step_limit: StepLimit | UnsetType | None = UNSET
    cost_limit: CostLimit | UnsetType | None = UNSET
    token_limit: TokenLimit | UnsetType | None = UNSET
    time_limit: TimeLimit | UnsetType | None = UNSET
    stuck_detection: bool | UnsetType | None = UNSET
    timeout: Timeout | UnsetType | None = UNSET
    network: NetworkMode | UnsetType | None = UNSET
    network_presets: list[Preset] | UnsetType | None = UNSET
    network_rules: Rules | UnsetType | None = UNSET
    pip_index: Url | UnsetType | None = UNSET
    npm_registry: Url | UnsetType | None = UNSET
    conda_channels: Url | UnsetType | None = UNSET
    ca_bundle: FilePath | UnsetType | None = UNSET


class NewSecret(_Body, frozen=True, kw_only=True):
    """A secret to keep."""

    value: SecretValue


class NewPull(_Body, frozen=True, kw_only=True):
    """An image to pull; the configured one where none is named."""

    image: ImageName | None = None


class ImageQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which image; the configured one where none is named."""

    image: ImageName | None = None


class McpPlace(_Body, frozen=True, kw_only=True):
    """In which session a server is meant; outside of any if left out."""

    session: Annotated[str, Meta(pattern=r"^[0-9a-f]{32}$")] | None = None


class McpConsent(McpPlace, frozen=True, kw_only=True):
    """What the person allows an MCP server of which they have seen the definition.

    ``use`` is for a server of a workspace. ``trust`` says which tools are called without asking;
    null for what the configuration says.
    """

    digest: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
    use: bool | None = None
    trust: McpTrust | UnsetType | None = UNSET


class ModelsQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Whether to look for servers on this machine too."""

    local: bool = False


class ModelTest(_Body, frozen=True, kw_only=True):
    """A model to try out; the configured one where none is named."""

    model: ModelName | None = None


class CheckpointsQuery(msgspec.Struct, frozen=True, kw_only=True):
    """How many checkpoints, the newest first."""

    limit: Annotated[int, Meta(ge=1, le=1000)] = 200


class DiffQuery(msgspec.Struct, frozen=True, kw_only=True, rename={"from_": "from"}):
    """Two checkpoints, the second one now if left out; and one path for its text."""

    from_: CheckpointId
    to: CheckpointId | None = None
    path: str | None = None


class UndoQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which turn; the last if left out."""

    turn: Id | None = None


class RewindQuery(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be gone back to before."""

    event: Id


class EventsQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which events; ``after`` and ``before`` are exclusive."""

    after: Annotated[int, Meta(ge=-1)] = -1
    before: Id | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] = 200
    order: Literal["asc", "desc"] = "asc"
    type: list[str] = []


class StreamQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Where to begin: behind the last event that the client has."""

    after: Annotated[int, Meta(ge=-1)] = -1


class TabQuery(msgspec.Struct, frozen=True, kw_only=True):
    """What a browser tab calls itself: the same when it connects again, another when reloaded."""

    tab: Annotated[str, Meta(min_length=8, max_length=64)]


def decisions_of(
    decision: NewDecision | ClientDecision | NewDryRun,
) -> list[CellDecision] | None:
    """What is decided of single cells."""
    if decision.cells is None:
        return None
    return [msgspec.convert(cell, CellDecision, from_attributes=True) for cell in decision.cells]


def given(changes: SessionChanges | SettingsChanges | NewSession) -> dict[str, Any]:
    """The fields that were given, by name."""
    absent = UNSET if isinstance(changes, SettingsChanges) else None
    values = msgspec.structs.asdict(changes)
    return {name: value for name, value in values.items() if value is not absent}
