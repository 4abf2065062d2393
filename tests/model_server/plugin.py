"""The fixture ``model_server``; load it as the pytest plugin ``model_server.plugin``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .server import ModelServer


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """A scripted model server of the test's own, on a port of its own; play something on it."""
    server = ModelServer()
    server.start()
    yield server
    server.close()
