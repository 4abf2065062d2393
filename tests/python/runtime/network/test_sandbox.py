"""A real sandbox with a proxy: packages come in from an allowed host, nothing else is reached."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
import tarfile

import pytest
from waiting import wait_until

from openhands_jupyter.errors import SandboxUnavailable
from openhands_jupyter.runtime.egress import NetworkPolicy, NetworkSettings, Rule, Upstream, Verdict

pytestmark = pytest.mark.sandbox

HOST = "packages.test"
INSTALL = "python -m pip install --quiet --target got tinywheel && cat got/tinywheel.py"
STATUS = "curl -sS --max-time 20 -o /dev/null -w '%{http_code} %{http_connect}\\n'"
"""Prints the status of the answer, and that of the proxy to a CONNECT."""
FIND_RELAY = "grep -lx openhands-relay /proc/[0-9]*/comm | cut -d/ -f3"


@pytest.mark.slow
async def test_pip_installs_from_an_allowed_index(online, site):
    index = site()
    settings = NetworkSettings(pip_index=f"http://{HOST}:{index.port}/simple")
    async with online(f"{HOST}:{index.port}", settings=settings) as o:
        assert await o.sh(INSTALL) == "ANSWER = 42\nexit 0"
        assert set(o.verdicts) == {Verdict(HOST, index.port, True, "listed")}
        o.proxy.policy = NetworkPolicy()
        refused = await o.sh(f"rm -r got; {INSTALL}")
        assert "exit 0" not in refused


@pytest.mark.slow
async def test_pip_installs_over_https_from_an_index_with_an_authority_of_its_own(
    online, site, certificates
):
    index = site(tls=True)
    settings = NetworkSettings(
        pip_index=f"https://{HOST}:{index.port}/simple", ca_bundle=str(certificates.authority)
    )
    async with online(f"{HOST}:{index.port}", settings=settings) as o:
        assert await o.sh(INSTALL) == "ANSWER = 42\nexit 0"
        assert (await o.sh("echo >>$SSL_CERT_FILE")).endswith("exit 1")


async def test_the_settings_reach_curl_and_cells(online, site, certificates):
    target = site(tls=True)
    url = f"https://{HOST}:{target.port}/simple/tinywheel/"
    settings = NetworkSettings(ca_bundle=str(certificates.authority))
    code = f"import urllib.request\nprint(urllib.request.urlopen({url!r}).status)"
    async with online(f"{HOST}:{target.port}", settings=settings) as o:
        assert await o.sh(f"{STATUS} {url}") == "200 200\nexit 0"
        assert (await o.bench.cell(code)).outputs[0].text == "200\n"
        # What leads to the proxy is nothing that would be cut off.
        assert await o.bench.runtime.at_rest()
    async with online(f"{HOST}:{target.port}") as o:
        assert "certificate" in await o.sh(f"curl -sS {url}")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="needs npm")
async def test_npm_installs_from_an_allowed_registry(online, site, index_folder, tmp_path):
    registry = site()
    url = f"http://{HOST}:{registry.port}"
    manifest = {"name": "tiny", "version": "1.0.0"}
    (tmp_path / "package.json").write_text(json.dumps(manifest))
    with tarfile.open(index_folder / "tiny.tgz", "w:gz") as archive:
        archive.add(tmp_path / "package.json", "package/package.json")
    version = {**manifest, "dist": {"tarball": f"{url}/tiny.tgz"}}
    packument = {"name": "tiny", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
    (index_folder / "tiny").write_text(json.dumps(packument))
    settings = NetworkSettings(npm_registry=url)
    install = "npm install --no-audit --no-fund tiny && ls node_modules"
    async with online(f"{HOST}:{registry.port}", settings=settings) as o:
        assert (await o.sh(install)).endswith("tiny\nexit 0")


async def test_nothing_else_is_reached_and_each_refusal_is_told(online, site):
    target, other = site(), site()
    async with online(f"{HOST}:{target.port}") as o:
        for place, reason in (
            (f"other.test:{target.port}", "not_listed"),
            (f"{HOST}:{other.port}", "not_listed"),
            (f"{HOST}.:{other.port}", "not_listed"),
            (f"127.0.0.2:{target.port}", "ip_address"),
            ("169.254.169.254:80", "ip_address"),
        ):
            assert await o.sh(f"{STATUS} http://{place}/") == "403 000\nexit 0", place
            tunnel = await o.sh(f"{STATUS} --proxytunnel http://{place}/")
            assert "000 403" in tunnel, place
            assert "exit 0" not in tunnel, place
            host, port = place.rsplit(":", 1)
            told = Verdict(host.removesuffix("."), int(port), False, reason)
            assert o.verdicts == [told, told]
            o.verdicts.clear()
        reading = await o.sh(f"curl -sS http://other.test:{target.port}/")
        assert "other.test" in reading
        assert "is not on the list of hosts that this sandbox may reach" in reading
        assert "To allow it" in reading
    assert target.requests == other.requests == []


async def test_there_is_no_way_past_the_proxy(online, site):
    target = site()
    place = f"{HOST}:{target.port}"
    async with online(place) as o:
        for command in (
            f"curl -sS --max-time 5 --noproxy '*' http://{place}/",
            f"curl -sS --max-time 5 --noproxy '*' http://127.0.0.1:{target.port}/",
            f"env -i /bin/bash -c 'exec 3<>/dev/tcp/127.0.0.1/{target.port}'",
            "python3 -c \"import socket; socket.create_connection(('192.0.2.1', 80))\"",
            "python3 -c \"import socket as s; s.socket(2, 2).sendto(b'x', ('192.0.2.1', 53))\"",
            f"python3 -c \"import socket; print(socket.getaddrinfo('{HOST}', 80))\"",
        ):
            assert "exit 0" not in await o.sh(command), command
        origin_form = f"curl -sS --noproxy '*' http://127.0.0.1:3128/ -H 'Host: {place}'"
        assert "This is the proxy of the sandbox" in await o.sh(origin_form)
        assert (await o.sh("rm $(dirname $(find / -name proxy -type s 2>/dev/null))/proxy")) != (
            "exit 0"
        )
        assert "200" in await o.sh(f"{STATUS} http://{place}/simple/")
    assert target.requests == ["/simple/"]


async def test_a_port_of_the_server_is_not_reached_even_if_it_is_listed(online, site):
    target = site()
    options = {"resolve": None, "trusted_networks": ()}
    async with online(f"localhost:{target.port}", **options) as o:
        asking = f"{STATUS} --noproxy '' http://localhost:{target.port}/"
        assert await o.sh(asking) == "403 000\nexit 0"
        assert o.verdicts == [Verdict("localhost", target.port, False, "local_address")]
    assert target.requests == []


async def test_what_is_allowed_can_change_while_it_runs(online, site):
    target = site()
    asking = f"{STATUS} http://{HOST}:{target.port}/simple/"
    async with online() as o:
        assert await o.sh(asking) == "403 000\nexit 0"
        o.proxy.policy = NetworkPolicy(
            mode="allow-list", rules=[*o.proxy.policy.rules, Rule(HOST, target.port)]
        )
        assert await o.sh(asking) == "200 000\nexit 0"
        o.proxy.policy = NetworkPolicy()
        assert await o.sh(asking) == "403 000\nexit 0"


async def test_large_bodies_and_many_connections_arrive(online, site):
    target = site()
    url = f"http://{HOST}:{target.port}"
    code = f"""
import concurrent.futures, hashlib, urllib.request
def get(number):
    return hashlib.sha256(urllib.request.urlopen("{url}/" + number).read()).hexdigest()
with concurrent.futures.ThreadPoolExecutor(120) as pool:
    found = list(pool.map(get, ["big"] * 3 + ["simple/"] * 300))
print(len(set(found[:3])), len(set(found[3:])), found[0])
"""
    expected = hashlib.sha256(bytes(range(256)) * 40_000).hexdigest()
    async with online(f"{HOST}:{target.port}") as o:
        observation = await o.bench.cell(code, 60)
        assert observation.outputs[0].text == f"1 1 {expected}\n"
        assert len(o.verdicts) == 303


async def test_idle_connections_from_inside_hold_up_only_themselves(online, site, quick):
    target = site()
    code = """
import socket
held = [socket.create_connection(("127.0.0.1", 3128)) for _ in range(150)]
held[0].sendall(b"GET / HTTP/1.1\\r\\nX: " + b"x" * 1_000_000)
"""
    async with online(f"{HOST}:{target.port}", limits=quick) as o:
        assert (await o.bench.cell(code)).ok
        del code
        assert (await o.bench.cell("for each in held: each.close()")).ok
        assert await o.sh(f"{STATUS} http://{HOST}:{target.port}/simple/") == "200 000\nexit 0"


async def test_a_proxy_that_ends_is_said_and_the_sandbox_goes_on(online, site):
    target = site()
    url = f"http://{HOST}:{target.port}"
    async with online(f"{HOST}:{target.port}") as o:
        reading = asyncio.create_task(o.sh(f"curl -sS --limit-rate 100k {url}/big -o got"))
        await wait_until(lambda: o.verdicts)
        await o.proxy.close()
        assert "exit 0" not in await reading
        assert await o.sh(f"{STATUS} {url}/simple/") == "503 000\nexit 0"
        assert await o.sh("echo on") == "on\nexit 0"


async def test_a_relay_killed_from_inside_is_told_and_the_sandbox_goes_on(online, site):
    target = site()
    asking = f"{STATUS} http://{HOST}:{target.port}/simple/"
    async with online(f"{HOST}:{target.port}") as o:
        assert (await o.sh(f"kill -INT $({FIND_RELAY})")).endswith("exit 0")
        assert "200" in await o.sh(asking)
        assert o.lost == []
        assert (await o.sh(f"kill -KILL $({FIND_RELAY})")).endswith("exit 0")
        assert "exit 7" in await o.sh(asking)
        assert await o.sh("echo on") == "on\nexit 0"
        assert (await o.bench.cell("1 + 1")).ok
        assert o.lost == ["lost"]


async def test_a_sandbox_that_replaces_another_has_the_network_too(online, site):
    target = site()
    asking = f"{STATUS} http://{HOST}:{target.port}/simple/"
    async with online(f"{HOST}:{target.port}") as o:
        assert "200" in await o.sh(asking)
        await o.sh("kill -KILL $PPID")
        assert "200" in await o.sh(asking)


async def test_without_a_network_there_is_no_relay_no_socket_and_no_variable(bench):
    async with bench() as b:
        found = await b.runtime.start()
        variables = await b.sh(f"env | grep -i proxy; {FIND_RELAY}")
        sockets = await b.sh("find / -name proxy -type s 2>/dev/null; curl -sS 127.0.0.1:3128")
    assert variables.content == ""
    assert "proxy" not in sockets.content
    assert sockets.exit_code == 7
    assert "no network" in found.summary
    assert found.network is None
    assert "reach a host that is not allowed" not in [check.name for check in found.checks]


async def test_the_self_test_and_the_summary_tell_of_the_network(online):
    async with online("a.test:443", "b.test:80") as o:
        found = await o.bench.runtime.start()
        assert o.verdicts == []
    held = {check.name: check.held for check in found.checks}
    assert held["reach the network directly"]
    assert held["reach a host that is not allowed"]
    assert "network only to what is allowed" in found.summary
    assert found.network == ["a.test", "b.test:80"]


async def test_a_proxy_that_connects_to_everything_makes_it_red(online, outer_proxy):
    """What the self-test finds counts, not what the policy says."""
    async with outer_proxy() as outer:
        upstream = Upstream({"https": f"http://127.0.0.1:{outer.port}"})
        async with online("a.test:443", upstream=upstream) as o:
            await o.bench.runtime.close()
            o.proxy.canary = "a.test"
            found = await o.bench.runtime.start()
    assert found.level == "red"
    assert "the agent can reach a host that is not allowed" in found.summary


async def test_without_isolation_the_settings_apply_and_the_servers_proxy(online, monkeypatch):
    monkeypatch.setenv("https_proxy", "http://proxy.test:1")
    settings = NetworkSettings(pip_index="https://mirror.test/simple", ca_bundle="/the/bundle")
    async with online("a.test:443", settings=settings, isolation="none") as o:
        shown = await o.sh("echo $https_proxy $PIP_INDEX_URL $SSL_CERT_FILE $HTTP_PROXY")
        assert shown == "http://proxy.test:1 https://mirror.test/simple /the/bundle\nexit 0"
        found = await o.bench.runtime.start()
    assert found.level == "red"


async def test_a_missing_ca_bundle_is_said(online):
    settings = NetworkSettings(ca_bundle="/nonexistent/bundle")
    with pytest.raises(SandboxUnavailable, match="/nonexistent/bundle"):
        async with online(settings=settings):
            pass
