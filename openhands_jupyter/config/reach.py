"""Which model each address, key and ability was configured for: they hold for no other."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ..llm.base import ModelConfig
from .keys import OF_A_MODEL
from .layers import Entry, Layer
from .problems import Problem
from .providers import GENERIC_KEY, PROVIDERS, provider_of
from .secrets import Secrets
from .settings import TOUR_MODEL, Settings


class Reach:
    """How models are reached.

    What a place says of "the model" was said of the one that was chosen when it was written: the
    one of the same place, else of the places below it, else the first one above it that chooses
    any. It holds for the models of that one's provider. What a workspace chooses does not count.

    Parameters
    ----------
    layers
        All places, the weakest first.
    locked
        Settings that hold for whatever model, as the administrator says.
    secrets
        Where keys are.

    Attributes
    ----------
    groups
        The groups ``[llm.NAME]`` by name.
    """

    def __init__(self, layers: Sequence[Layer], locked: Collection[str], secrets: Secrets) -> None:
        self._layers = layers
        self._locked = locked
        self._secrets = secrets
        groups = {name: group for layer in layers for name, group in layer.groups.items()}
        # A group could give the one model that is allowed another meaning.
        self.groups = {} if "model" in locked else groups
        self._without_use = groups if "model" in locked else {}

    def model(self, name: str, settings: Settings, origins: dict[str, Layer | None]) -> ModelConfig:
        """How to reach the model, or the model of the group, of this name.

        Parameters
        ----------
        name
            In LiteLLM's terms, or of a group ``[llm.NAME]``.
        settings
            Those in force.
        origins
            The layer of each setting's value.
        """
        group = self.groups.get(name)
        model = self.real(name)
        values = {
            setting: getattr(settings, setting)
            for setting in OF_A_MODEL
            if setting in self._locked or self._holds(origins[setting], name)
        }
        own = {k: v for k, v in group.values.items() if k not in self._locked} if group else {}
        values |= {setting: own[setting] for setting in OF_A_MODEL if setting in own}
        key = (group.api_key if group else "") or self._key(name, own)
        provider = PROVIDERS.get(provider_of(model))
        if provider and provider.key and not key:
            key = self._secrets.get(provider.key)
        if provider and provider.address and not values.get("base_url"):
            values["base_url"] = provider.address
        timeout = own.get("model_timeout", settings.model_timeout)
        return ModelConfig(model=model, api_key=key or None, timeout=timeout, **values)

    def real(self, name: str) -> str:
        """The model in LiteLLM's terms that a name stands for."""
        group = self.groups.get(name)
        return str(group.values["model"]) if group else name

    def problems(self, settings: Settings, origins: dict[str, Layer | None]) -> list[Problem]:
        """What is configured of another model than the one in force, and what a lock is against."""
        name = settings.model
        found = [
            _not_of(entry, layer, name)
            for setting in OF_A_MODEL
            if (layer := origins[setting]) and setting not in self._locked
            if not self._holds(layer, name) and name != TOUR_MODEL
            for entry in [layer.entries[setting]]
        ]
        layer = self._layer_of_key()
        if layer and name != TOUR_MODEL and not self._holds(layer, name):
            found.append(_not_of(Entry(GENERIC_KEY), layer, name))
        locked = [
            (entry, setting)
            for group in (*self.groups.values(), *self._without_use.values())
            for setting, entry in group.entries.items()
            if setting in self._locked
        ]
        return found + [_locked(entry, setting) for entry, setting in locked]

    def _key(self, name: str, own: dict[str, Any]) -> str | None:
        """The key of "the model", if that is this one, and it is asked at the same address."""
        layer = self._layer_of_key()
        if layer is None or "base_url" in own or not self._holds(layer, name):
            return None
        return self._secrets.get(GENERIC_KEY)

    def _layer_of_key(self) -> Layer | None:
        origin = self._secrets.origins().get(GENERIC_KEY)
        return next((layer for layer in self._layers if layer.origin == origin), None)

    def _holds(self, layer: Layer | None, name: str) -> bool:
        """Whether what a layer says of the model was said of this one."""
        if layer is None:
            return False
        at = self._layers.index(layer)
        below = [model for model in map(self._chosen, self._layers[: at + 1]) if model]
        above = [model for model in map(self._chosen, self._layers[at + 1 :]) if model]
        if not below + above:
            asked = [one.values.get("model") for one in self._layers if one.of_workspace]
            return name not in asked
        model = below[-1] if below else above[0]
        return provider_of(self.real(model)) == provider_of(self.real(name))

    def _chosen(self, layer: Layer) -> str:
        """The model that a layer chooses; empty where that says nothing."""
        if layer.of_workspace or ("model" in self._locked and layer.origin != "traitlets"):
            return ""
        model = str(layer.values.get("model", TOUR_MODEL))
        return "" if model == TOUR_MODEL else model


def _locked(entry: Entry, setting: str) -> Problem:
    message = f"{entry.key} is left out: the administrator has locked {setting}."
    return Problem(severity="warning", where=entry.file, line=entry.line, message=message)


def _not_of(entry: Entry, layer: Layer, name: str) -> Problem:
    return Problem(
        severity="warning",
        where=entry.file or layer.origin,
        line=entry.line,
        message=f"{entry.key} is not used with {name}, as it was configured for another model.",
    )
