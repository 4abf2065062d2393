"""What code in this sandbox can reach: tried, not assumed.

Nothing here changes anything: files are opened for writing but not written, and what is created
stands in a folder that the client made for this test.
"""

from __future__ import annotations

# What is beneath `socket`, and is loaded in a third of the time: the kernel waits for this.
import _socket as socket
import contextlib
import ctypes
import errno
import os
from collections.abc import Callable, Iterator

from . import seccomp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CLONE_NEWUSER = 0x10000000
CONNECT_TIMEOUT = 0.5


class _Process:
    """The client's process, if it can be seen from here."""

    def __init__(self, pid: int, started: int) -> None:
        self._pid = pid
        self._started = started

    def seen(self) -> str | None:
        # Its number may belong to somebody else here, but nobody else started at the same tick.
        return f"it is process {self._pid}" if start_of(self._pid) == self._started else None

    def read(self) -> str | None:
        if not self.seen():
            return None
        for name in ("environ", "mem"):
            with contextlib.suppress(OSError):
                os.close(os.open(f"/proc/{self._pid}/{name}", os.O_RDONLY))
                return f"/proc/{self._pid}/{name} was opened"
        return None

    def signalled(self) -> str | None:
        if not self.seen():
            return None
        os.kill(self._pid, 0)
        return "it may be signalled"


def start_of(pid: int) -> int:
    """When a process started, in clock ticks since the machine did.

    Raises
    ------
    OSError
        When it cannot be seen.
    """
    with open(f"/proc/{pid}/stat", "rb") as file:
        # The name before it may hold spaces and brackets.
        return int(file.read().rpartition(b")")[2].split()[19])


def run(params: dict[str, Any]) -> list[dict[str, Any]]:
    """Try everything.

    Parameters
    ----------
    params
        ``secret_file``, ``outside_folder``, ``private_folders``, ``read_only_folders``,
        ``unix_socket``, ``abstract_socket``, ``tcp_port``, ``namespaces`` (of the client, by
        name), ``environment`` (the names that belong here), ``unlisted_host`` (one that the
        proxy does not allow; None without a proxy), ``proxy_port`` (where the proxy answers),
        ``unlisted_folder`` (one that only Landlock forbids; None if there is none), ``process``
        (the client's ``pid`` and ``started``), ``terminal`` (a ``path`` and its ``device``),
        ``shared_memory`` (a file) and ``only`` (the names of what to try; None for everything).
    """
    server = _Process(**params["process"])
    tried: list[dict[str, Any]] = []

    def check(name: str, attempt: Callable[[], str | None]) -> None:
        if params["only"] is not None and name not in params["only"]:
            return
        try:
            breach = attempt()
        except OSError as error:
            tried.append({"name": name, "held": True, "detail": error.strerror or str(error)})
        else:
            tried.append({"name": name, "held": breach is None, "detail": breach or ""})

    check("read a secret file", lambda: _read(params["secret_file"]))
    check("read private folders", lambda: _list_any(params["private_folders"]))
    check("write outside the workspace", lambda: _write(params["outside_folder"]))
    check("write to the system", lambda: _writable_any(params["read_only_folders"]))
    check("connect to a port of the server", lambda: _connect_tcp(params["tcp_port"]))
    check("connect to a socket of the server", lambda: _connect_unix(params["unix_socket"]))
    check("reach the network directly", _route_out)
    if params["unlisted_host"] is not None:
        host, port = params["unlisted_host"], params["proxy_port"]
        check("reach a host that is not allowed", lambda: _tunnel(host, port))
    check("connect to an abstract socket", lambda: _connect_unix("\0" + params["abstract_socket"]))
    check("see the server's environment", lambda: _foreign_names(params["environment"]))
    check("see the server's processes", server.seen)
    check("read the server's memory", server.read)
    check("signal the server", server.signalled)
    check("reach a terminal of the server", lambda: _open_terminal(**params["terminal"]))
    check("read shared memory of the server", lambda: _read(params["shared_memory"]))
    check("share namespaces with the server", lambda: _shared(params["namespaces"]))
    check("change permissions outside", lambda: _change_mode(params["secret_file"]))
    if params["unlisted_folder"] is not None:
        check("write where only Landlock forbids it", lambda: _write(params["unlisted_folder"]))
    check("change kernel settings", _open_kernel_settings)
    check("hold capabilities", _capabilities)
    check("open a user namespace", _unshare)
    check("use dangerous system calls", _dangerous_calls)
    check("run as root outside the sandbox", _root_outside)
    return tried


def _read(path: str) -> str:
    with open(path, "rb") as file:
        file.read(1)
    return f"{path} was read"


def _list_any(folders: list[str]) -> str | None:
    for folder in folders:
        with contextlib.suppress(OSError):
            if os.listdir(folder):
                return f"{folder} was listed"
    return None


def _write(folder: str) -> str:
    path = os.path.join(folder, "written-by-the-self-test")
    with open(path, "w", encoding="utf-8"):
        return f"{path} was written"


def _writable_any(folders: list[str]) -> str | None:
    # A container has another Python than the server.
    for folder in filter(os.path.isdir, folders):
        read_only = os.statvfs(folder).f_flag & os.ST_RDONLY
        if not read_only and os.access(folder, os.W_OK) and _takes_files(folder):
            return f"{folder} is writable"
    return None


def _takes_files(folder: str) -> bool:
    try:
        # One without a name, which nobody sees and which goes with its descriptor.
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
    except OSError as error:
        return error.errno in (errno.EISDIR, errno.ENOENT, errno.EOPNOTSUPP)
    return True


def _connect_tcp(port: int) -> str:
    with _connected(socket.AF_INET, ("127.0.0.1", port)):
        return "the server's side answered"


def _connect_unix(address: str) -> str:
    with _connected(socket.AF_UNIX, address):
        return "the server's side answered"


def _open(family: int, kind: int) -> contextlib.closing[socket.socket]:
    return contextlib.closing(socket.socket(family, kind))


@contextlib.contextmanager
def _connected(family: int, address: Any) -> Iterator[socket.socket]:
    with _open(family, socket.SOCK_STREAM) as client:
        client.settimeout(CONNECT_TIMEOUT)
        client.connect(address)
        yield client


def _route_out() -> str | None:
    # Nothing is sent: for UDP, connecting just looks for a route.
    for family, address in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        with contextlib.suppress(OSError), _open(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))
            return f"there is a route to {address}"
    return None


def _tunnel(host: str, port: int) -> str | None:
    with _connected(socket.AF_INET, ("127.0.0.1", port)) as client:
        client.sendall(f"CONNECT {host}:443 HTTP/1.1\r\n\r\n".encode())
        status = client.recv(64).split(b" ")[1:2]
    return f"the proxy connected to {host}" if status == [b"200"] else None


def _shared(namespaces: dict[str, str]) -> str | None:
    shared = [
        name for name, link in namespaces.items() if os.readlink(f"/proc/self/ns/{name}") == link
    ]
    return "shared: " + ", ".join(shared) if shared else None


def _foreign_names(known: list[str]) -> str | None:
    foreign = sorted(set(os.environ) - set(known) - {"PWD", "OLDPWD", "SHLVL", "_", "LC_CTYPE"})
    return "found: " + ", ".join(foreign) if foreign else None


def _open_kernel_settings() -> str | None:
    # A writable core_pattern is a way to run code outside, as root.
    for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger"):
        with contextlib.suppress(OSError):
            os.close(os.open(path, os.O_WRONLY))
            return f"{path} is writable"
    return None


def _capabilities() -> str | None:
    with open("/proc/self/status", encoding="utf-8") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    # Those that a program could gain are of no use to one that can gain nothing.
    gained = [] if status["NoNewPrivs"] == "1" else ["CapBnd"]
    names = ["CapEff", "CapPrm", "CapInh", "CapAmb", *gained]
    held = [name for name in names if int(status[name].strip(), 16)]
    return "not empty: " + ", ".join(held) if held else None


def _unshare() -> str | None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWUSER) == 0:
        return "a new user namespace was opened"
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _root_outside() -> str | None:
    # A user id tells nothing here, because user namespaces may be nested; this file is root's.
    if os.stat("/proc/sys/kernel/core_pattern").st_uid == os.getuid():
        return "files are accessed as root"
    return None


def _dangerous_calls() -> str | None:
    # Harmless if they are let through: the one looks for a keyring, the other fails for its NULL.
    libc = ctypes.CDLL(None, use_errno=True)
    for name, arguments in (("keyctl", (0, -2, 0)), ("io_uring_setup", (1, 0))):
        number = seccomp.number(name)
        if number is None:
            return "there is no filter for this processor"
        libc.syscall(*map(ctypes.c_long, (number, *arguments)))
        if ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS):
            return f"{name} is possible"
    return None


def _open_terminal(path: str, device: int) -> str | None:
    fd = os.open(path, os.O_RDWR | os.O_NOCTTY)
    try:
        # Another set of terminals has the same names.
        return f"{path} was opened" if os.fstat(fd).st_dev == device else None
    finally:
        os.close(fd)


def _change_mode(path: str) -> str:
    os.chmod(path, 0o600)
    return f"the mode of {path} was changed"
