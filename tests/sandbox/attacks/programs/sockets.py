"""Connect to what is not meant for the sandbox."""

import socket

TIMEOUT = 3


def attack(world, argument):
    """Connect to what `argument` names."""
    return globals()[argument](world)


def server_port(world):
    with socket.create_connection(("127.0.0.1", world["port"]), TIMEOUT):
        return "connected"


def kernel_socket(world):
    return unix(world["kernel_socket"])


def docker_socket(world):
    for path in world["docker_sockets"]:
        try:
            return unix(path)
        except OSError as error:
            refused = error
    raise refused


def abstract_socket(world):
    return unix("\0" + world["mark"])


def datagram_socket(world):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"x", world["datagram_socket"])
    return "sent"


def route(world):
    """To the internet, and to where clouds keep passwords; for UDP this sends nothing."""
    for family, address in (
        (socket.AF_INET, "169.254.169.254"),
        (socket.AF_INET, "192.0.2.1"),
        (socket.AF_INET6, "2001:db8::1"),
    ):
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((address, 53))
                return f"there is a route to {address}"
        except OSError as error:
            refused = error
    raise refused


def raw(world):
    kinds = [(socket.AF_INET, socket.SOCK_RAW, 1), (socket.AF_PACKET, socket.SOCK_RAW, 0)]
    for family, kind, protocol in kinds:
        try:
            socket.socket(family, kind, protocol).close()
            return "a raw socket was made"
        except OSError as error:
            refused = error
    raise refused


def unix(address):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(TIMEOUT)
        client.connect(address)
    return "connected"
