"""Keeps the tests apart from the person's own files and settings."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says something about the machine only.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")

FOREIGN_PREFIXES = ("LLM_", "SANDBOX_", "OPENHANDS_")
FOREIGN_SUFFIXES = ("_API_KEY", "_API_BASE", "_BASE_URL")


@pytest.fixture(autouse=True)
def own_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Give every test an empty home and an environment without models, keys and settings."""
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    for name in os.environ:
        if name.startswith(FOREIGN_PREFIXES) or name.endswith(FOREIGN_SUFFIXES):
            monkeypatch.delenv(name)
