"""Get out past the list of allowed hosts, by the proxy and beside it."""

import socket

PROXY = ("127.0.0.1", 3128)
TIMEOUT = 10


def attack(world, argument):
    """Ask for what `argument` says."""
    return globals()[argument](world)


def allowed(world):
    """No attack: that the way is there at all."""
    return ask("allowed.test", world["site"])


def other_host(world):
    return ask("other.test", world["site"])


def other_port(world):
    return ask("allowed.test", world["port"])


def address(world):
    for host in ("127.0.0.2", "2130706434", "0x7f000002", "[::ffff:127.0.0.2]", "127.2"):
        got = ask(host, world["site"])
        if got:
            return f"{host}: {got}"
    return None


def metadata(world):
    return ask("169.254.169.254", 80) or ask("metadata.test", 80)


def name_of_this_machine(world):
    return ask("local.test", world["port"])


def rebinding(world):
    """A name that leads to an allowed place at first, and to the server later."""
    for _ in range(20):
        got = ask("rebind.test", world["port"])
        if got:
            return got
    return None


def direct(world):
    for host in ("127.0.0.2", "127.0.0.1"):
        try:
            with socket.create_connection((host, world["site"]), TIMEOUT):
                return f"{host} was reached without the proxy"
        except OSError as error:
            refused = error
    raise refused


def name_lookup(world):
    for name in ("allowed.test", "example.org"):
        try:
            return str(socket.getaddrinfo(name, 443)[0][4])
        except socket.gaierror:
            continue
    return None


def ask(host, port):
    """By a tunnel and by a request for a URL; None if the proxy refuses both."""
    for head in (
        f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n",
        f"GET http://{host}:{port}/ HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n",
    ):
        with socket.create_connection(PROXY, TIMEOUT) as client:
            client.settimeout(TIMEOUT)
            client.sendall(head.encode())
            status = client.recv(1000).split(b" ")[1:2]
        if status == [b"200"]:
            return f"the proxy let {host}:{port} through"
    return None
