"""What the tools of an agent share: arguments as a model writes them, rated by the model itself."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Self

import msgspec
from msgspec import Meta

from ..events import Action, Risk, RiskLevel


class ToolArguments(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The arguments of one tool, as a model writes them."""

    name: ClassVar[str]
    description: ClassVar[str]
    action_type: ClassVar[type[Action]]
    other_types: ClassVar[tuple[type[Action], ...]] = ()
    """What else these arguments may mean."""

    def to_action(self) -> Action:
        """The action that these arguments mean: one with the same fields, unless overridden."""
        return self.action_type(**{name: getattr(self, name) for name in self._names()})

    @classmethod
    def of(cls, action: Any) -> Self:
        """The arguments that mean `action`, which is of a type that this tool gives."""
        return cls(**{name: getattr(action, name) for name in cls._names()})

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        """The fields that the action has too."""
        return cls.__struct_fields__


Risky = Annotated[
    RiskLevel,
    Meta(
        description="How risky you hold this to be for the user. 'high' for what deletes, "
        "installs, reaches outside the workspace, or cannot be undone."
    ),
]
Timeout = Annotated[
    float,
    Meta(ge=0, le=86_400, description="Seconds after which it is stopped; 0 for the default."),
]
Path = Annotated[str, Meta(description="Path relative to the workspace.")]


class Gated(ToolArguments, kw_only=True):
    """Arguments of a tool that does something, rated by the model itself."""

    security_risk: Risky = "low"

    def to_action(self) -> Action:
        """The action that these arguments mean, rated."""
        return self.rate(super().to_action())

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        return tuple(name for name in super()._names() if name not in Gated.__struct_fields__)

    def rate(self, action: Action) -> Action:
        """`action` with the model's rating, where it is more than low."""
        if self.security_risk == "low":
            return action
        reason = f"The model itself rates this as {self.security_risk} risk."
        return msgspec.structs.replace(
            action, risk=Risk(level=self.security_risk, reasons=[reason])
        )
