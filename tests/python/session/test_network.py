"""What a session's sandbox may reach: refused, allowed by the person, taken back, kept."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from model_server import call, text
from package_index import HOST, INDEX, INSTALL, INSTALLED, PackageIndex
from session_tools import events, until
from waiting import PATIENCE

from openhands_jupyter.errors import Conflict, Invalid
from openhands_jupyter.events import (
    Blob,
    BrowseInteractiveAction,
    BrowserOutputObservation,
    BrowseURLAction,
    CmdOutputObservation,
    CmdRunAction,
    ErrorObservation,
    IsolationObservation,
    NetworkAccessAction,
    NetworkRefusedObservation,
    SandboxReleasedObservation,
)
from openhands_jupyter.runtime import commands
from openhands_jupyter.runtime.agentd import landlock
from openhands_jupyter.session import Session
from openhands_jupyter.session.info import AllowedPlace

pytestmark = pytest.mark.sandbox

FETCH = f"curl -sS --fail {INDEX}/ -o /dev/null"
DONE = call("finish", message="Done.")


@pytest.fixture
def index(tmp_path):
    with PackageIndex(tmp_path / "index") as index:
        yield index


@pytest.fixture
def online(manager, index):
    """Opens a manager whose sandboxes have a network."""

    @asynccontextmanager
    async def open_online(traits: dict[str, object] | None = None, **settings: object):
        administered = {"network_proxy": index.proxy, **(traits or {})}
        chosen = {"network": "allow-list", "isolation": "bubblewrap", **settings}
        async with manager(traits=administered, **chosen) as sessions:
            yield sessions

    return open_online


@pytest.fixture
def run(model_server):
    """Lets the agent run commands; gives the exit codes."""

    async def run(session: Session, *commands: str) -> list[int | None]:
        model_server.play(*(call("execute_bash", command=command) for command in commands), DONE)
        last = session.send_message("Do it")
        await until(session, "finished", after=last)
        found = events(session, CmdOutputObservation)
        return [each.exit_code for each in found if each.id > last]

    return run


def change_settings(sessions, **changes):
    sessions._config.update_panel(changes)
    sessions.settings_changed()


def refusals(session: Session) -> list[tuple[str, int, str]]:
    found = events(session, NetworkRefusedObservation)
    return [(each.host, each.port, each.reason) for each in found]


async def test_pip_is_refused_then_allowed_for_the_session(online, model_server, index):
    install = call(
        "execute_bash", command=f"PIP_INDEX_URL={INDEX} PIP_TRUSTED_HOST={HOST} {INSTALL}"
    )
    async with online(pip_index="http://other.test/simple") as sessions:
        session = await sessions.create(mode="auto")
        model_server.play(install, text("May I?"))
        last = session.send_message("Install it")
        await until(session, "awaiting_user_input", after=last)
        [refused] = events(session, NetworkRefusedObservation)
        [action] = events(session, CmdRunAction)
        assert (refused.cause, refused.host, refused.port) == (action.id, HOST, 80)
        assert refused.reason == "not_listed"
        told = model_server.requests[-1].body["messages"][-1]["content"]
        assert f"[Network: {HOST}:80 is not among the hosts that may be reached." in told
        assert index.asked == []
        assert session.info().network.places == ["other.test:80"]

        session.network.change(HOST, 80, "session")
        assert session.info().network.places == ["other.test:80", f"{HOST}:80"]
        model_server.play(install, DONE)
        last = session.send_message("Try again")
        await until(session, "finished", after=last)
        assert events(session, CmdOutputObservation)[-1].content == INSTALLED
        assert set(index.asked) == {f"{HOST}:80"}
        messages = model_server.requests[-1].body["messages"]
        notes = [m["content"] for m in messages if m["role"] == "user"]
        allowed = f"[The person allowed the sandbox to reach {HOST}:80 in this session.]"
        assert notes == ["Install it", allowed, "Try again"]


async def test_a_mirror_is_listed_by_being_set(online, run, index):
    async with online(pip_index=INDEX) as sessions:
        session = await sessions.create(mode="auto")
        assert await run(session, INSTALL) == [0]
        plainly = "pip install --quiet tinywheel && cd / && python -c 'import tinywheel'"
        assert await run(session, plainly) == [0]
        assert refusals(session) == []


async def test_once_lasts_until_the_next_command_has_ended(online, run):
    async with online() as sessions:
        session = await sessions.create(mode="auto")
        assert await run(session, FETCH) == [22]
        session.network.change(HOST, 80, "once")
        assert session.info().network.allowed == [AllowedPlace(host=HOST, port=80, access="once")]
        with pytest.raises(Conflict, match="already"):
            session.network.change(HOST, 80, "once")
        assert await run(session, FETCH, FETCH) == [0, 22]
        assert session.info().network.allowed == []
        assert refusals(session) == [(HOST, 80, "not_listed")] * 2


async def test_a_page_is_refused_then_fetched_by_an_agent_that_only_reads(online, model_server):
    page = call("fetch", url=f"{INDEX}/tinywheel/")
    async with online() as sessions:
        session = await sessions.create(mode="agent", agent="browsing")
        model_server.play(page, text("May I?"))
        last = session.send_message("What is there?")
        await until(session, "awaiting_user_input", after=last)
        [refused] = events(session, NetworkRefusedObservation)
        [action] = events(session, BrowseURLAction)
        assert (refused.cause, refused.host, refused.port) == (action.id, HOST, 80)
        assert action.risk.reasons == [
            f"Uses the network ({HOST}); what is not allowed will be refused"
        ]
        session.network.change(HOST, 80, "once")
        model_server.play(page, page, DONE)
        last = session.send_message("Yes")
        await until(session, "finished", after=last)
        assert [e.status for e in events(session, BrowserOutputObservation)] == [403, 200, 403]
        messages = model_server.requests[-1].body["messages"]
        told = [m["content"] for m in messages if m["role"] == "tool"]
        link = f"[tinywheel]({INDEX}/tinywheel/tinywheel-1.0-py3-none-any.whl#sha256="
        assert link in told[-2] and f"{HOST}:80 is not among the hosts" in told[-1]
        assert session.info().network.allowed == []

        # With a browser it does the same, within the same limits.
        session.network.change(HOST, 80, "session")
        there = call("browser", do="open", url=f"{INDEX}/tinywheel/")
        model_server.play(there, call("browser", do="screenshot"), DONE)
        last = session.send_message("Show me")
        await until(session, "finished", after=last)
        opened, shown = events(session, BrowseInteractiveAction)
        assert opened.risk.reasons == action.risk.reasons
        assert (shown.page, shown.risk.level) == (f"{INDEX}/tinywheel/", "medium")
        page, picture = events(session, BrowserOutputObservation)[-2:]
        assert page.status == 200 and 'link "tinywheel" [ref=' in page.content
        assert isinstance(picture.outputs[0].data["image/png"], Blob)
        messages = model_server.requests[-1].body["messages"]
        told = [m["content"] for m in messages if m["role"] == "tool"]
        assert page.content.strip() in told[-2] and "image" in told[-1]


async def test_once_given_while_a_command_runs_is_for_the_one_after_it(online, model_server, run):
    """The command that was refused may already have given up."""
    async with online() as sessions:
        session = await sessions.create(mode="auto")
        waiting = f"{FETCH}; until [ -e go ]; do sleep 0.05; done"
        model_server.play(call("execute_bash", command=waiting), text("May I?"))
        last = session.send_message("Do it")
        async with asyncio.timeout(PATIENCE):
            await session.stream.wait_for(
                lambda event: isinstance(event, NetworkRefusedObservation), after=last
            )
        session.network.change(HOST, 80, "once")
        (Path(session.info().workspace) / "go").touch()
        await until(session, "awaiting_user_input", after=last)
        assert await run(session, "true # not the file actions", FETCH) == [0, 22]
        session.network.change(HOST, 80, "once")
        assert await run(session, FETCH) == [0]


async def test_once_lasts_as_long_as_a_command_that_goes_on(online, model_server, run, monkeypatch):
    async with online() as sessions:
        session = await sessions.create(mode="auto")
        session.network.change(HOST, 80, "once")
        waiting = f"until [ -e go ]; do sleep 0.05; done; {FETCH}"
        model_server.play(call("execute_bash", command=waiting), text("Go on?"))
        with monkeypatch.context() as impatient:
            impatient.setattr(commands, "NO_CHANGE_TIMEOUT", 0.5)
            last = session.send_message("Do it")
            await until(session, "awaiting_user_input", after=last)
        assert events(session, CmdOutputObservation)[-1].running
        assert session.info().network.allowed != []
        (Path(session.info().workspace) / "go").touch()
        assert (await run(session, "", FETCH))[-2:] == [0, 22]


async def test_what_is_revoked_is_refused_again(online, run):
    async with online() as sessions:
        session = await sessions.create(mode="auto")
        session.network.change(HOST, 80, "session")
        assert await run(session, FETCH) == [0]
        session.network.change(HOST, 80, "revoked")
        assert await run(session, FETCH) == [22]
        with pytest.raises(Conflict, match="not among what you allowed"):
            session.network.change(HOST, 80, "revoked")
        assert [event.access for event in events(session, NetworkAccessAction)] == [
            "session",
            "revoked",
        ]


async def test_a_session_that_is_opened_again_keeps_what_was_allowed_for_it(online, run):
    async with online() as sessions:
        session = await sessions.create(mode="auto")
        session.network.change(HOST, 80, "session")
        session.network.change("other.test", 443, "once")
    async with online() as sessions:
        again = await sessions.open(session.id)
        again.change_settings(mode="auto")
        assert again.info().network.allowed == [AllowedPlace(host=HOST, port=80, access="session")]
        assert await run(again, FETCH) == [0]
        other = await sessions.create(mode="auto")
        assert await run(other, FETCH) == [22]
    async with online(traits={"locked": ["network_rules"]}) as sessions:
        again = await sessions.open(session.id)
        again.change_settings(mode="auto")
        assert await run(again, FETCH) == [22]


async def test_what_the_administrator_fixed_cannot_be_added_to(online):
    async with online(traits={"locked": ["network_rules"]}) as sessions:
        session = await sessions.create()
        assert session.info().network.fixed
        with pytest.raises(Conflict) as caught:
            session.network.change(HOST, 80, "session")
        assert caught.value.code == "setting_locked"
        assert events(session, NetworkAccessAction) == []


async def test_settings_count_at_once_where_there_is_a_network(online, run):
    async with online() as sessions:
        session = await sessions.create(mode="auto")
        assert await run(session, FETCH) == [22]
        session.network.change("other.test", 443, "session")
        change_settings(sessions, network_rules=[f"{HOST}:80"])
        assert session.info().network.places == [f"{HOST}:80", "other.test"]
        assert await run(session, FETCH) == [0]
        with pytest.raises(Conflict, match="already"):
            session.network.change(HOST, 80, "session")


async def test_switched_off_means_off_whatever_was_allowed(manager, index, run):
    traits = {"network_proxy": index.proxy, "network": "allow-list"}
    async with manager(traits=traits, isolation="bubblewrap") as sessions:
        session = await sessions.create(mode="auto")
        session.network.change(HOST, 80, "session")
        assert await run(session, FETCH) == [0]
        change_settings(sessions, network="off")
        assert session.info().network.places == []
        assert await run(session, FETCH) == [22]
        with pytest.raises(Conflict, match="no network"):
            session.network.change("other.test", 443, "session")
        other = await sessions.create(mode="auto")
        assert other.info().network is None
        assert await run(other, FETCH) != [0]
        assert refusals(other) == []


async def test_a_network_switched_on_reaches_an_open_session_in_a_new_sandbox(
    manager, index, run, model_server
):
    async with manager(traits={"network_proxy": index.proxy}, isolation="bubblewrap") as sessions:
        session = await sessions.create(mode="auto")
        assert await run(session, f"VARIABLE=here; ! {FETCH}") == [0]
        change_settings(sessions, network="allow-list", pip_index=INDEX)
        assert session.info().network is None
        with pytest.raises(Conflict, match="no network"):
            session.network.change(HOST, 80, "session")

        assert await run(session, "echo ${VARIABLE:-gone}", FETCH, INSTALL) == [0, 0, 0]
        told = events(session, CmdOutputObservation)[1].content
        assert "The settings of the network were changed" in told
        assert told.endswith("gone\n")
        [released] = events(session, SandboxReleasedObservation)
        assert "The settings of the network were changed" in released.reason
        starts = [event.network for event in events(session, IsolationObservation)]
        assert starts == [None, [f"{HOST}:80"]]
        assert session.info().network.places == [f"{HOST}:80"]
        system = model_server.requests[-1].body["messages"][0]["content"]
        assert f"{HOST}:80 could be reached" in system

        # What is listed takes no other sandbox, nor does switching it off and on.
        change_settings(sessions, network="off")
        assert await run(session, "VARIABLE=here") == [0]
        change_settings(sessions, network="allow-list", network_presets=["python"])
        assert await run(session, f"[ $VARIABLE = here ] && {FETCH}") == [0]


async def test_another_mirror_waits_until_nothing_runs_in_the_sandbox(online, run):
    mirror = '[ "$npm_config_registry" = http://npm.test/ ]'
    async with online() as sessions:
        session = await sessions.create(mode="auto")
        assert await run(session, "until [ -e go ]; do sleep 0.05; done &") == [0]
        change_settings(sessions, npm_registry="http://npm.test/")
        assert session.info().network.places == ["npm.test:80"]
        assert await run(session, mirror, "touch go; wait") == [1, 0]
        assert events(session, SandboxReleasedObservation) == []
        assert await run(session, mirror) == [0]
        assert len(events(session, SandboxReleasedObservation)) == 1


async def test_what_was_approved_runs_in_the_sandbox_that_it_was_asked_in(
    online, model_server, run
):
    async with online() as sessions:
        session = await sessions.create(mode="auto")
        assert await run(session, "VARIABLE=here") == [0]
        session.change_settings(mode="agent")
        model_server.play(call("execute_bash", command="rm -rf x; echo $VARIABLE"), DONE)
        last = session.send_message("Do it")
        await until(session, "awaiting_user_confirmation", after=last)
        change_settings(sessions, npm_registry="http://npm.test/")
        last = session.stream.last_id
        session.confirm(session.info().pending, "approve")
        await until(session, "finished", after=last)
        assert events(session, CmdOutputObservation)[-1].content == "here\n"
        session.change_settings(mode="auto")
        assert await run(session, "[ -z $VARIABLE ]") == [0]


@pytest.mark.skipif(not landlock.abi(), reason="needs a kernel with Landlock")
async def test_no_sandbox_is_ended_for_a_network_that_another_would_not_have_either(manager, run):
    async with manager(isolation="landlock") as sessions:
        session = await sessions.create(mode="auto")
        assert await run(session, "VARIABLE=here") == [0]
        change_settings(sessions, network="allow-list", npm_registry="http://npm.test/")
        assert await run(session, "[ $VARIABLE = here ]") == [0]
        assert session.info().network is None


@pytest.mark.parametrize(
    ("host", "port"), [("10.0.0.1", 80), ("https://a.org", 443), ("a.org", 0), ("*.org", 443)]
)
async def test_what_is_no_place_cannot_be_allowed(online, host, port):
    async with online() as sessions:
        session = await sessions.create()
        with pytest.raises(Invalid):
            session.network.change(host, port, "session")
        assert events(session, NetworkAccessAction) == []


async def test_refusals_are_told_once_and_not_without_end(online, run):
    asking = "for n in $(seq 30); do curl -s http://h$n.test/; curl -s http://h$n.test/; done"
    async with online() as sessions:
        session = await sessions.create(mode="auto")
        await run(session, asking, "curl -s http://127.0.0.9/; curl -s http://h1.test/; true")
        found = refusals(session)
        assert found[:20] == [(f"h{n}.test", 80, "not_listed") for n in range(1, 21)]
        assert found[20:] == [("127.0.0.9", 80, "ip_address"), ("h1.test", 80, "not_listed")]
        causes = [event.cause for event in events(session, NetworkRefusedObservation)]
        actions = [event.id for event in events(session, CmdRunAction)]
        assert causes == [actions[0]] * 20 + [actions[1]] * 2


async def test_a_way_out_that_was_ended_from_inside_is_said(online, run):
    ending = "kill -KILL $(grep -lx openhands-relay /proc/[0-9]*/comm | cut -d/ -f3)"
    async with online() as sessions:
        session = await sessions.create(mode="auto")
        assert await run(session, ending, "true") == [0, 0]
        async with asyncio.timeout(PATIENCE):
            await session.stream.wait_for(
                lambda e: isinstance(e, ErrorObservation) and e.code == "network_lost", after=-1
            )


@pytest.mark.parametrize(
    ("isolation", "notice"),
    [
        ("landlock", "the Landlock sandbox has no network"),
        ("none", "without a sandbox, the agent reaches whatever you can"),
    ],
)
async def test_a_sandbox_that_cannot_have_a_guarded_network_says_so(
    online, model_server, isolation, notice
):
    if isolation == "landlock" and not landlock.abi():
        pytest.skip("needs a kernel with Landlock")
    model_server.play(text("Hello."))
    async with online(isolation=isolation) as sessions:
        session = await sessions.create()
        last = session.send_message("Hello")
        await until(session, "awaiting_user_input", after=last)
        [found] = events(session, IsolationObservation)
        assert notice in found.notice
        assert found.network is None
        assert session.info().network is None
        with pytest.raises(Conflict, match="no network"):
            session.network.change(HOST, 80, "session")


async def test_the_model_is_told_what_can_be_reached(online, model_server):
    model_server.play(text("Hello."))
    async with online(network_presets=["python"], network_rules=["docs.test"]) as sessions:
        session = await sessions.create()
        last = session.send_message("Hello")
        await until(session, "awaiting_user_input", after=last)
    system = model_server.requests[-1].body["messages"][0]["content"]
    assert "docs.test, pypi.org, files.pythonhosted.org could be reached" in system
    assert "Without a network" not in system


async def test_the_approval_does_not_claim_that_there_is_no_network(online, model_server):
    async with online() as sessions:
        session = await sessions.create()
        model_server.play(call("execute_bash", command="pip install tinywheel"))
        last = session.send_message("Install it")
        await until(session, "awaiting_user_confirmation", after=last)
        [action] = events(session, CmdRunAction)
        assert action.risk.level == "high"
        reasons = " ".join(action.risk.reasons)
        assert "what is not allowed will be refused" in reasons
        assert "has none" not in reasons


async def test_no_socket_is_left(online, run, tmp_path):
    async with online() as sessions:
        session = await sessions.create(mode="auto")
        await run(session, "true")
        path = session.network.way_out.proxy._path
        assert path.is_socket()
    assert not path.exists()
