"""The models to choose from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..config import Config
from ..config.providers import PROVIDERS, provider_of
from ..config.settings import TOUR_MODEL
from ..errors import Invalid
from ..llm.base import LanguageModel
from ..llm.local_servers import LOCAL_SERVERS, LocalModel, LocalServer, detect, is_loopback
from ..llm.probe import probe
from ..llm.windows import SMALL_WINDOW, advice
from ..session import SessionManager
from .answers import Model, Models
from .base import ApiHandler, allowed
from .bodies import ModelsQuery, ModelTest


class ModelsHandler(ApiHandler):
    """The catalogue of models."""

    @allowed("read")
    async def get(self) -> None:
        """The tour first, then the configured model, those on this machine, and well-known ones."""
        config = self.services.config
        local = await detect(servers(config)) if self.query(ModelsQuery).local else []
        self.answer(Models(models=catalogue(config, local)))


class ModelTestHandler(ApiHandler):
    """Trying out a model."""

    @allowed("execute")
    async def post(self) -> None:
        """Make a few short calls; what they show is the answer, whatever it is."""
        name = self.body(ModelTest).model or self.services.config.settings.model
        self.answer(await probe(tried(self.services.sessions, name)))


def tried(sessions: SessionManager, name: str) -> LanguageModel:
    """The model to try out.

    Raises
    ------
    Invalid
        When it is the tour, which is no AI.
    """
    if name == TOUR_MODEL:
        raise Invalid(
            "model_is_tour",
            "The guided tour is no AI; there is nothing to test.",
            "Choose a model.",
        )
    return sessions.resolve_model(name)


def servers(config: Config) -> list[LocalServer]:
    """The servers that may run on this machine, and the configured one if it is there too."""
    reach = config.model_config(config.settings.model)
    known = list(LOCAL_SERVERS)
    address = reach.base_url
    if reach.model == TOUR_MODEL or address is None or not is_loopback(address):
        return known
    id = provider_of(reach.model)
    label = PROVIDERS[id].label if id in PROVIDERS else id
    return [LocalServer(id, label, address), *(s for s in known if s.provider != id)]


def catalogue(config: Config, local: Sequence[LocalModel] = ()) -> list[Model]:
    """The models that can be chosen, each with whether it can be reached.

    Parameters
    ----------
    local
        Those that servers on this machine have.
    """
    windows = {model.name: model.window for model in local}
    known = [model for provider in PROVIDERS.values() for model in provider.models]
    groups = config.model_groups
    names = [*dict.fromkeys([*groups, *windows, *known])]
    configured = config.settings.model
    if configured != TOUR_MODEL:
        names = [configured, *(name for name in names if name != configured)]
    tour = Model(name=TOUR_MODEL, label="Guided tour (no AI)", provider="", ready=True)
    return [tour, *(_describe(config, name, windows) for name in names)]


def _describe(config: Config, name: str, windows: Mapping[str, int | None]) -> Model:
    reach = config.model_config(name)
    id = provider_of(reach.model)
    provider = PROVIDERS.get(id)
    # A provider that we know nothing of may take its credentials from elsewhere, as clouds do.
    needs_key = provider is not None and provider.key and not reach.base_url
    ready = bool(reach.api_key) or not needs_key
    key = provider.key if provider else ""
    hint = "" if ready else f"Add the key {key} in the settings, or set it in the environment."
    window = windows.get(reach.model)
    if window is not None and window < SMALL_WINDOW:
        hint = f"Its window of {window} tokens is small. {advice(name)}"
    return Model(
        name=name,
        label=name.removeprefix(f"{id}/") if name == reach.model else f"{name} ({reach.model})",
        provider=provider.label if provider else id,
        ready=ready,
        hint=hint,
        local=reach.model in windows,
        window=window,
    )
