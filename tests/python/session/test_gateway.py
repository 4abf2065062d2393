"""A session whose work is done at a remote Jupyter server."""

from __future__ import annotations

import pytest
from model_server.script import call
from remote_jupyter import jupyter_server
from session_tools import events, until

from openhands_jupyter.events import (
    CheckpointObservation,
    CmdOutputObservation,
    IPythonOutputObservation,
    IsolationObservation,
    SystemMessageAction,
)

pytestmark = pytest.mark.sandbox


async def test_the_agent_works_there_and_is_told_so(manager, model_server, tmp_path, workspace):
    root = tmp_path / "remote"
    root.mkdir()
    model_server.play(
        call("execute_bash", command="echo there >made; pwd"),
        call("run_code", code="open('made').read()"),
        call("finish", message="done"),
    )
    with jupyter_server(root) as remote:
        chosen = {"isolation": "gateway", "gateway_url": remote.url, "gateway_folder": "~/work"}
        async with manager(**chosen) as sessions:
            sessions._config.secrets.set("JUPYTER_GATEWAY_AUTH_TOKEN", remote.token)
            session = await sessions.create(mode="agent")
            # Nothing is started there before it is needed.
            sessions.prewarm(session)
            assert remote.kernels() == []
            session.send_message("go on")
            after = -1
            for _ in range(2):
                # It runs on this very machine, so everything has to be approved.
                after = (await until(session, "awaiting_user_confirmation", after=after)).id
                pending = session.info().pending
                assert pending is not None
                session.confirm(pending, "approve")
            await until(session, "finished")
            (command,) = events(session, CmdOutputObservation)
            (cell,) = events(session, IPythonOutputObservation)
            (isolation,) = events(session, IsolationObservation)
            (system,) = events(session, SystemMessageAction)
            assert events(session, CheckpointObservation) == []
            assert len(remote.kernels()) == 1
        assert remote.kernels_left() == []
    assert command.content == f"{root / 'work'}\n"
    assert cell.outputs[0].data == {"text/plain": "'there\\n'"}
    assert isolation.workspace == str(root / "work")
    assert str(root / "work") in system.content
    assert (root / "work" / "made").read_text() == "there\n"
    assert list(workspace.iterdir()) == []
    holding = [
        path.name
        for path in (tmp_path / "home").rglob("*")
        if path.is_file() and remote.token.encode() in path.read_bytes()
    ]
    assert holding == ["secrets.json"]
    assert not any(remote.token in str(request.body) for request in model_server.requests)
