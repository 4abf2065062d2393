"""Sessions over real parts: log, sandbox, and a scripted model behind the real LiteLLM."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from model_server.server import ModelServer
from session_tools import SECRET
from shared_gateway import SharedGateway

from openhands_jupyter.config import Config
from openhands_jupyter.session import SessionManager


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work space"
    folder.mkdir()
    return folder


@pytest.fixture
def manager(
    tmp_path: Path,
    workspace: Path,
    model_server: ModelServer,
    shared_gateway: SharedGateway,
    monkeypatch: pytest.MonkeyPatch,
):
    """Opens a manager whose sessions talk to the scripted model, unless told otherwise."""
    monkeypatch.setattr("openhands_jupyter.session.manager.ModelGateway", shared_gateway.lend)

    @asynccontextmanager
    async def open_manager(
        root: Path = workspace, traits: dict[str, object] | None = None, **overrides: object
    ) -> AsyncIterator[SessionManager]:
        environ = {
            **os.environ,
            "OPENHANDS_HOME": str(tmp_path / "home"),
            "LLM_MODEL": "openai/scripted",
            "LLM_BASE_URL": model_server.url,
            "LLM_API_KEY": SECRET,
        }
        made = SessionManager(Config(root, traits, overrides, environ))
        try:
            yield made
        finally:
            await made.close()

    return open_manager
