"""The proxy by itself: what it lets through, what it refuses, and how it bears abuse."""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import socket

import pytest
from waiting import PATIENCE

from openhands_jupyter.runtime.egress import Limits, NetworkPolicy, Rule, Upstream, Verdict
from openhands_jupyter.runtime.egress.dial import embedded, ipaddress, is_own

pytestmark = pytest.mark.anybody

HOST = "packages.test"


async def no_resolver(host: str) -> list[str]:
    raise AssertionError(f"{host} was looked up")


async def test_a_tunnel_to_an_allowed_host(gate, site):
    target = site()
    async with gate(f"{HOST}:{target.port}") as g:
        reader, writer = await g.connect()
        writer.write(f"CONNECT {HOST.upper()}.:{target.port} HTTP/1.1\r\n\r\n".encode())
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
        writer.write(b"GET /big HTTP/1.0\r\n\r\n")
        answer = await reader.read(-1)
        writer.close()
        await writer.wait_closed()
        assert answer.endswith(bytes(range(256)) * 40_000)
        assert g.verdicts == [Verdict(HOST, target.port, True, "listed")]


async def test_a_request_with_a_url_is_sent_on_as_one_for_that_host(gate, site):
    target = site()
    async with gate(f"{HOST}:{target.port}") as g:
        answer = await g.say(
            f"GET http://{HOST}:{target.port}/simple/tinywheel/?a=b HTTP/1.1\r\n"
            "Host: other.test\r\nProxy-Connection: keep-alive\r\nX-Kept: yes\r\n\r\n".encode()
        )
        assert answer.startswith(b"HTTP/1.0 200")
        assert b"tinywheel-1.0" in answer
    assert target.requests == ["/simple/tinywheel/?a=b"]
    sent = target.headers[0]
    assert sent["host"] == f"{HOST}:{target.port}"
    assert sent["connection"] == "close"
    assert sent["x-kept"] == "yes"
    assert "proxy-connection" not in sent


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("other.test:443", "not_listed"),
        (f"{HOST}:444", "not_listed"),
        (f"sub.{HOST}:443", "not_listed"),
        (f"{HOST}.evil.test:443", "not_listed"),
        ("127.0.0.1:443", "ip_address"),
        ("[::1]:443", "ip_address"),
        ("[::ffff:127.0.0.1]:443", "ip_address"),
        ("169.254.169.254:80", "ip_address"),
        ("2130706433:443", "ip_address"),
        ("0x7f.1:443", "ip_address"),
        ("127.1:443", "ip_address"),
    ],
)
async def test_what_is_not_listed_is_refused_and_told(gate, place, reason):
    async with gate(f"{HOST}:443", resolve=no_resolver) as g:
        connect = await g.say(f"CONNECT {place} HTTP/1.1\r\n\r\n".encode())
        plain = await g.say(f"GET http://{place}/ HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
    for answer in (connect, plain):
        assert answer.startswith(b"HTTP/1.1 403 " + place.encode())
        assert (b"To allow it" in answer) == (reason == "not_listed")
    host, port = place.rsplit(":", 1)
    assert g.verdicts == [Verdict(host.strip("[]"), int(port), False, reason)] * 2


@pytest.mark.parametrize(
    "request_head",
    [
        "GET / HTTP/1.1\r\nHost: packages.test",
        "OPTIONS * HTTP/1.1",
        "GET https://packages.test/ HTTP/1.1",
        "GET ftp://packages.test/ HTTP/1.1",
        "GET http://user@packages.test/ HTTP/1.1",
        "GET http://packages.test:x/ HTTP/1.1",
        "GET http://[packages.test/ HTTP/1.1",
        "GET http:///x HTTP/1.1",
        "CONNECT packages.test HTTP/1.1",
        "CONNECT packages.test:443:80 HTTP/1.1",
        "CONNECT packages.test:0 HTTP/1.1",
        "CONNECT packages.test:99999 HTTP/1.1",
        "CONNECT user@packages.test:443 HTTP/1.1",
        "CONNECT packages.test:443",
        "CONNECT packages.test:443 HTTP/2.0",
        "CONNECT  packages.test:443 HTTP/1.1",
        "CONNECT <script>.1:443 HTTP/1.1",
        "CONNECT pack\x00ages.test:443 HTTP/1.1",
        "GET http://packages.test:443/ HTTP/1.1\r\nBad header: x",
        "GET http://packages.test:443/ HTTP/1.1\r\nA: b\r\n folded",
        "GET http://packages.test:443/ HTTP/1.1\r\nA: b\nHost: x",
        "\x16\x03\x01\x02\x00",
        "",
    ],
)
async def test_what_is_no_request_to_a_proxy_is_refused(gate, request_head):
    async with gate("packages.test:443", resolve=no_resolver) as g:
        answer = await g.say(request_head.encode("latin-1") + b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert g.verdicts == []


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254", "100.64.0.1"),
        *("0.0.0.0", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fd00::1", "ff02::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1"),
        *("2002:7f00:1::", "fd00:ec2::254"),
    ],
)
async def test_a_name_that_leads_to_a_local_network_is_refused(gate, address):
    async def resolve(host: str) -> list[str]:
        return [address]

    async with gate(f"{HOST}:443", resolve=resolve, trusted_networks=()) as g:
        assert (await g.ask(f"{HOST}:443")).startswith(f"HTTP/1.1 403 {HOST} has an address of a")
        assert g.verdicts == [Verdict(HOST, 443, False, "local_address")]


async def test_a_port_of_this_machine_is_refused_with_the_system_resolver(gate, site):
    """Such as the Jupyter server's own, although a rule names it."""
    target = site()
    place = f"localhost:{target.port}"
    async with gate(place, resolve=None, trusted_networks=()) as g:
        assert "403" in await g.ask(place)
        assert g.verdicts == [Verdict("localhost", target.port, False, "local_address")]
    assert target.requests == []


async def test_trusting_one_network_trusts_no_other(gate, site):
    target = site(address="127.0.0.2")

    async def resolve(host: str) -> list[str]:
        return ["127.0.0.2" if host == HOST else "127.0.0.1"]

    options = {"resolve": resolve, "trusted_networks": ["127.0.0.2/32"]}
    async with gate(f"{HOST}:{target.port}", f"other.test:{target.port}", **options) as g:
        assert "200" in await g.ask(f"{HOST}:{target.port}")
        assert "403" in await g.ask(f"other.test:{target.port}")


async def test_a_name_that_changes_its_address_leads_nowhere_else(gate, site):
    """The name server says something good when asked to judge, something bad from then on."""
    good = site(address="127.0.0.2")
    asked = []

    async def resolve(host: str) -> list[str]:
        asked.append(host)
        return ["127.0.0.2"] if len(asked) == 1 else ["127.0.0.1"]

    options = {"resolve": resolve, "trusted_networks": ["127.0.0.2/32"]}
    async with gate(f"{HOST}:{good.port}", **options) as g:
        url = f"GET http://{HOST}:{good.port}/simple/ HTTP/1.1\r\n\r\n".encode()
        assert b"200" in (await g.say(url))[:20]
        assert asked == [HOST]
        assert (await g.say(url)).startswith(b"HTTP/1.1 403 ")
    assert good.requests == ["/simple/"]
    assert [verdict.reason for verdict in g.verdicts] == ["listed", "local_address"]


async def test_of_several_addresses_the_permitted_ones_are_tried_in_turn(gate, site):
    target = site()

    async def resolve(host: str) -> list[str]:
        return ["10.0.0.1", "127.0.0.3", "127.0.0.1"]

    async with gate(f"{HOST}:{target.port}", resolve=resolve) as g:
        assert "200" in await g.ask(f"{HOST}:{target.port}")


async def test_what_cannot_be_reached_is_said(gate):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        async with gate(f"{HOST}:{port}", "unknown.example:443") as g:
            assert await g.ask(f"{HOST}:{port}") == f"HTTP/1.1 502 {HOST}:{port} does not answer."
            assert "502 The address of unknown.example was not" in await g.ask(
                "unknown.example:443"
            )
    assert [verdict.reason for verdict in g.verdicts] == ["unreachable", "unresolved"]


async def test_a_name_server_that_hangs_does_not_hold_a_connection_for_ever(gate, quick):
    async def resolve(host: str) -> list[str]:
        await asyncio.Event().wait()
        raise AssertionError

    async with gate(f"{HOST}:443", resolve=resolve, limits=quick) as g:
        assert "504" in await g.ask(f"{HOST}:443")
        assert g.verdicts == [Verdict(HOST, 443, False, "unreachable")]


async def test_a_change_of_the_policy_applies_at_once(gate, site):
    target = site()
    place = f"{HOST}:{target.port}"
    async with gate() as g:
        assert "403" in await g.ask(place)
        g.proxy.policy = NetworkPolicy(
            mode="allow-list", rules=[*g.proxy.policy.rules, Rule(HOST, target.port)]
        )
        reader, writer = await g.connect()
        writer.write(f"CONNECT {place} HTTP/1.1\r\n\r\n".encode())
        assert b"200" in await reader.readuntil(b"\r\n\r\n")
        g.proxy.policy = NetworkPolicy()
        async with asyncio.timeout(PATIENCE):
            assert await reader.read(-1) == b""
        writer.close()
        await writer.wait_closed()
        assert "403" in await g.ask(place)


async def test_a_change_of_the_policy_leaves_what_it_still_allows(gate, site):
    target = site()
    async with gate(f"{HOST}:{target.port}") as g:
        reader, writer = await g.connect()
        writer.write(f"CONNECT {HOST}:{target.port} HTTP/1.1\r\n\r\n".encode())
        assert b"200" in await reader.readuntil(b"\r\n\r\n")
        g.proxy.policy = NetworkPolicy(
            mode="allow-list", rules=[*g.proxy.policy.rules, Rule("other.test")]
        )
        writer.write(b"GET /simple/ HTTP/1.0\r\n\r\n")
        assert b"tinywheel" in await reader.read(-1)
        writer.close()
        await writer.wait_closed()


async def test_the_canary_is_refused_but_not_told(gate):
    async with gate() as g:
        assert "403" in await g.ask(f"{g.proxy.canary}:443")
        assert g.verdicts == []


async def test_a_huge_head_is_refused(gate):
    async with gate(f"{HOST}:443", resolve=no_resolver) as g:
        answer = await g.say(b"GET http://packages.test/ HTTP/1.1\r\nX: " + b"x" * 200_000)
        assert answer.startswith(b"HTTP/1.1 431 ")


async def test_who_is_slow_is_sent_away_and_the_others_are_served(gate, site, quick):
    target = site()
    place = f"{HOST}:{target.port}"

    async def drip() -> bytes:
        _reader, writer = await g.connect()
        try:
            with pytest.raises(OSError):
                for _ in range(1000):
                    writer.write(b"C")
                    await writer.drain()
                    await asyncio.sleep(0.02)
            return b"gone"
        finally:
            writer.transport.abort()

    async with gate(place, limits=quick) as g:
        slow = [asyncio.create_task(drip()) for _ in range(3 * quick.connections)]
        assert "200" in await asyncio.wait_for(g.ask(place), PATIENCE)
        assert set(await asyncio.gather(*slow)) == {b"gone"}


async def test_a_connection_on_which_nothing_is_sent_is_ended(gate, site, quick):
    target = site()
    async with gate(f"{HOST}:{target.port}", limits=quick) as g:
        answer = await g.say(f"CONNECT {HOST}:{target.port} HTTP/1.1\r\n\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 200 ")


async def test_many_connections_are_served_with_few_descriptors(gate, site):
    target, few = site(), Limits(connections=4)
    request = f"GET http://{HOST}:{target.port}/simple/ HTTP/1.1\r\n\r\n".encode()
    most = 0

    async def watch() -> None:
        nonlocal most
        while True:
            most = max(most, len(os.listdir("/proc/self/fd")))
            await asyncio.sleep(0)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        received = await reader.read(-1)
        writer.close()
        await writer.wait_closed()
        return received

    async with gate(f"{HOST}:{target.port}", limits=few) as g:
        clients = [await g.connect() for _ in range(100)]
        before = len(os.listdir("/proc/self/fd"))
        watching = asyncio.create_task(watch())
        for _, writer in clients:
            writer.write(request)
        answers = await asyncio.gather(*(answer(*client) for client in clients))
        watching.cancel()
        assert all(b"tinywheel" in answer for answer in answers)
    # For each connection one to the client, one to the server, and the server's own, all here.
    assert most - before < 12 * few.connections
    assert len(g.verdicts) == 100


async def test_no_descriptors_left_is_survived(gate):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with gate() as g:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(g.path))
            resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
            try:
                await asyncio.sleep(0.3)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            client.sendall(b"GET / HTTP/1.1\r\n\r\n")
            answer = await asyncio.to_thread(client.recv, 12)
        assert answer == b"HTTP/1.1 400"


async def test_closing_ends_everything_and_it_can_be_started_again(gate, site):
    target = site()
    place = f"{HOST}:{target.port}"
    async with gate(place) as g:
        reader, writer = await g.connect()
        writer.write(f"CONNECT {place} HTTP/1.1\r\n\r\n".encode())
        await reader.readuntil(b"\r\n\r\n")
        waiting = [await g.connect() for _ in range(5)]
        await g.proxy.close()
        assert await reader.read(-1) == b""
        for _, each in (*waiting, (reader, writer)):
            each.transport.abort()
        with pytest.raises(FileNotFoundError):
            await g.connect()
        await g.proxy.start(g.path)
        assert "200" in await g.ask(place)
        del waiting
        gc.collect()


async def test_a_server_that_breaks_off_ends_the_connection(gate):
    async def break_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\n")
        writer.transport.abort()

    async with await asyncio.start_server(break_off, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with gate(f"{HOST}:{port}") as g:
            assert await g.say(f"GET http://{HOST}:{port}/ HTTP/1.1\r\n\r\n".encode()) == b""


def test_addresses_are_seen_through():
    def meant(text: str) -> str:
        return str(embedded(ipaddress.ip_address(text)))

    assert meant("64:ff9b::7f00:1") == meant("::ffff:127.0.0.1") == "127.0.0.1"
    assert meant("2002:7f00:1::") == meant("127.0.0.1") == "127.0.0.1"
    assert meant("2001:db8::1") == "2001:db8::1"


def test_addresses_of_this_machine_are_known():
    assert is_own(ipaddress.ip_address("127.0.0.1"))
    assert not is_own(ipaddress.ip_address("192.0.2.1"))
    assert not is_own(ipaddress.ip_address("2001:db8::1"))


async def test_the_servers_own_proxy_is_used(gate, outer_proxy):
    async with outer_proxy() as outer:
        upstream = Upstream({"all": f"http://us%65r:p%40ss@127.0.0.1:{outer.port}"})
        async with gate("a.test:443", "a.test:80", upstream=upstream, resolve=no_resolver) as g:
            reader, writer = await g.connect()
            writer.write(b"CONNECT a.test:443 HTTP/1.1\r\n\r\n")
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"hello!")
            assert await reader.read(-1) == b"behind hello!"
            writer.close()
            await writer.wait_closed()
            assert await g.say(b"GET http://a.test/ HTTP/1.1\r\n\r\n") == b"behind GET / "
            assert "403" in await g.ask("b.test:443")
    first, second = outer.heads
    assert first.startswith("CONNECT a.test:443 HTTP/1.1\r\n")
    assert "Proxy-Authorization: Basic dXNlcjpwQHNz\r\n" in first
    assert second.startswith("CONNECT a.test:80 HTTP/1.1\r\n")


async def test_the_servers_own_proxy_is_found_in_the_environment(
    gate, site, outer_proxy, monkeypatch
):
    target = site()
    async with outer_proxy() as outer:
        monkeypatch.setenv("HTTPS_PROXY", f"127.0.0.1:{outer.port}")
        monkeypatch.setenv("NO_PROXY", ".near.test")
        places = ("a.test:443", f"b.near.test:{target.port}")
        async with gate(*places, upstream=Upstream()) as g:
            assert "200" in await g.ask("a.test:443")
            assert "200" in await g.ask(places[1])
    assert len(outer.heads) == 1


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 407 secret\r\n\r\n", b"nonsense\r\n\r\n", b"", b"x" * 100_000]
)
async def test_a_proxy_of_the_server_that_refuses_is_said(gate, outer_proxy, answer):
    async with outer_proxy(answer) as outer:
        upstream = Upstream({"https": f"http://127.0.0.1:{outer.port}"})
        async with gate("a.test:443", upstream=upstream) as g:
            status = await g.ask("a.test:443")
            assert status.startswith("HTTP/1.1 502 The proxy that the server has to use")
            assert "secret" not in status
    assert g.verdicts == [Verdict("a.test", 443, False, "unreachable")]


@pytest.mark.parametrize("url", ["socks5://127.0.0.1:1", "http://", "http://127.0.0.1:1"])
async def test_a_proxy_of_the_server_that_cannot_be_used_is_said(gate, url):
    async with gate("a.test:443", upstream=Upstream({"https": url})) as g:
        assert "502 The " in await g.ask("a.test:443")
