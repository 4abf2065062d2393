"""A session's sandbox stands ready once somebody looks at the session, and not before."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from session_tools import kernels
from waiting import wait_until

pytestmark = pytest.mark.sandbox


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any]) -> dict[str, Any]:
    """A server that may have one sandbox ready."""
    return {**jp_server_config, "OpenHandsExtension": {"prewarm": 1, "isolation": "bubblewrap"}}


async def test_a_new_session_is_made_ready(api: Any) -> None:
    assert (await api("POST", "sessions", {})).status == 201
    await wait_until(lambda: len(kernels()) == 1)


async def test_a_session_that_is_watched_is_made_ready(
    api: Any, connect: Any, session: Any
) -> None:
    assert (await api("GET", "sessions")).status == 200
    assert (await api("GET", f"sessions/{session.id}")).status == 200
    await asyncio.sleep(0.5)
    assert kernels() == set(), "nobody looks at it yet"
    await connect(session.id)
    await wait_until(lambda: len(kernels()) == 1)
