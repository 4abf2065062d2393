"""Sessions whose files are kept: a real sandbox, a scripted model, a workspace to look at."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from model_server.server import ModelServer
from shared_gateway import SharedGateway

from openhands_jupyter.config import Config
from openhands_jupyter.session import SessionManager


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "wörk space"
    folder.mkdir()
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """OpenHands' own folder."""
    return tmp_path / "home"


@pytest.fixture
def manager(
    home: Path,
    workspace: Path,
    model_server: ModelServer,
    shared_gateway: SharedGateway,
    monkeypatch: pytest.MonkeyPatch,
):
    """Opens a manager whose sessions talk to the scripted model; twice is a server restarted."""
    monkeypatch.setattr("openhands_jupyter.session.manager.ModelGateway", shared_gateway.lend)

    @asynccontextmanager
    async def open_manager(
        root: Path = workspace, **overrides: object
    ) -> AsyncIterator[SessionManager]:
        environ = {
            **os.environ,
            "OPENHANDS_HOME": str(home),
            "LLM_MODEL": "openai/scripted",
            "LLM_BASE_URL": model_server.url,
            "LLM_API_KEY": "sk-canary-0123456789",
        }
        made = SessionManager(Config(root, overrides=overrides, environ=environ))
        try:
            yield made
        finally:
            await made.close()

    return open_manager
