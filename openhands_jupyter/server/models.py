"""The models to choose from."""

from __future__ import annotations

from ..config import Config
from ..config.providers import PROVIDERS, provider_of
from ..config.settings import TOUR_MODEL
from .base import ApiHandler, allowed
from .bodies import Model, Models


class ModelsHandler(ApiHandler):
    """The catalogue of models."""

    @allowed("read")
    async def get(self) -> None:
        """The tour first, then the configured model, then well-known ones."""
        self.answer(Models(models=catalogue(self.services.config)))


def catalogue(config: Config) -> list[Model]:
    """The models that can be chosen, each with whether it can be reached."""
    names = [model for provider in PROVIDERS.values() for model in provider.models]
    configured = config.settings.model
    if configured != TOUR_MODEL:
        names = [configured, *(name for name in names if name != configured)]
    tour = Model(name=TOUR_MODEL, label="Guided tour (no AI)", provider="", ready=True)
    return [tour, *(_describe(config, name) for name in names)]


def _describe(config: Config, name: str) -> Model:
    id = provider_of(name)
    provider = PROVIDERS.get(id)
    reach = config.model_config(name)
    # A provider that we know nothing of may take its credentials from elsewhere, as clouds do.
    needs_key = provider is not None and provider.key and not reach.base_url
    ready = bool(reach.api_key) or not needs_key
    key = provider.key if provider else ""
    return Model(
        name=name,
        label=name.removeprefix(f"{id}/"),
        provider=provider.label if provider else id,
        ready=ready,
        hint="" if ready else f"Add the key {key} in the settings, or set it in the environment.",
    )
