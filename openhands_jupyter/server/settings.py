"""Settings with the origin of each value, and secrets that are written and never read."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from ..config import Config
from ..config.settings import NAMES, convert
from ..errors import Invalid, SandboxUnavailable
from .agents import check_agent
from .answers import AllSettings, Secret, Setting
from .base import ApiHandler, InvalidField, allowed
from .bodies import NewSecret, SettingsChanges, given
from .pythons import check_python


class SettingsHandler(ApiHandler):
    """The settings."""

    @allowed("read")
    async def get(self) -> None:
        """Every setting with its origin, and the names of the secrets."""
        self.answer(describe(self.services.config))

    # They hold for the sessions that are begun next: an agent of one's own, no isolation.
    @allowed("execute")
    async def put(self) -> None:
        """Keep settings from the panel; null removes the panel's value."""
        changes = given(self.body(SettingsChanges))
        config = self.services.config
        config.require_unlocked(changes)
        _check(changes)
        if agent := changes.get("agent"):
            await _check_agent(agent)
        if changes.get("python"):
            await check_python(config, changes["python"])
        if bundle := changes.get("ca_bundle"):
            await asyncio.to_thread(_check_certificates, bundle)
        config.update_panel(changes)
        self.services.settings_changed()
        self.answer(describe(self.services.config))


class SecretHandler(ApiHandler):
    """One secret."""

    @allowed("write")
    async def put(self, name: str) -> None:
        """Keep a secret."""
        value = self.body(NewSecret).value
        try:
            self.services.config.secrets.set(name, value)
        except Invalid as error:
            field = "value" if error.code == "secret_value" else "name"
            raise InvalidField(error.code, error.message, field, error.hint) from error
        self.services.settings_changed()
        self.answer_nothing()

    @allowed("write")
    async def delete(self, name: str) -> None:
        """Forget a secret."""
        self.services.config.secrets.delete(name)
        self.services.settings_changed()
        self.answer_nothing()


def _check(changes: dict[str, Any]) -> None:
    for name, value in changes.items():
        if value is not None:
            try:
                convert(name, value)
            except msgspec.ValidationError as error:
                raise InvalidField("invalid_field", f"{error}.", name) from error


async def _check_agent(name: str) -> None:
    try:
        await check_agent(name)
    except Invalid as error:
        raise InvalidField(error.code, error.message, "agent", error.hint) from error


def _check_certificates(bundle: str) -> None:
    from ..runtime.egress import NetworkSettings

    try:
        NetworkSettings(ca_bundle=bundle).certificates()
    except SandboxUnavailable as error:
        raise InvalidField("invalid_field", error.message, "ca_bundle", error.hint) from error


def describe(config: Config) -> AllSettings:
    """What the panel shows of the configuration."""
    return AllSettings(
        settings={
            name: Setting(
                value=getattr(config.settings, name),
                origin=config.origin(name),
                where=entry.file or entry.key,
                line=entry.line,
                locked=name in config.locked,
            )
            for name in NAMES
            for entry in [config.entry(name)]
        },
        secrets=[
            Secret(name=name, origin=origin, for_sandbox=not why_not, why_not=why_not)
            for name, origin in config.secrets.origins().items()
            for why_not in [config.secrets.why_not(name)]
        ],
        problems=config.problems,
        model_groups=config.model_groups,
    )
