"""The attacks: what each tries, and what has to come of it.

An attack is stopped unless it is listed here as open, with the reason. One that is stopped although
it is listed as open is as much of an error as the other way round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Judge = Literal["program", "secret", "outside"]
Result = Literal["stopped", "told", "open"]


class Column(NamedTuple):
    """A way of isolation, and who Jupyter and the workspace belong to.

    Attributes
    ----------
    isolation
        As in the settings.
    jupyter
        ``user``: Jupyter is an ordinary user's. ``owner``: it is root's, the workspace is an
        ordinary user's. ``root``: both are root's.
    """

    isolation: str
    jupyter: Literal["user", "owner", "root"]

    def __str__(self) -> str:
        return f"{self.isolation}-{self.jupyter}"


COLUMNS = [
    Column("bubblewrap", "user"),
    Column("bubblewrap", "owner"),
    Column("bubblewrap", "root"),
    Column("landlock", "user"),
    Column("landlock", "owner"),
    Column("landlock", "root"),
    Column("docker", "user"),
    Column("docker", "owner"),
]
"""There is no container for a workspace of root: it is refused."""


@dataclass(frozen=True)
class Attack:
    """One attack.

    Attributes
    ----------
    name
        What it tries, in plain words.
    program, argument
        A file in ``programs`` and what it is told; or the name of a function in `scenarios`.
    judge
        Who says whether it worked: the ``program``; whether the ``secret`` is in what it printed;
        or just what is seen from ``outside``, which always counts.
    open
        Why it works, by isolation or column.
    told
        Where it works, but the person is told of it at once: why it cannot be prevented.
    without_groups
        Why it works where there are no control groups, by isolation or column.
    needs
        ``network`` or ``own_process_namespace``.
    control
        Whether it must work without a sandbox, where it does no harm.
    """

    name: str
    program: str
    argument: str = ""
    judge: Judge = "program"
    open: Mapping[str, str] = field(default_factory=dict)
    told: Mapping[str, str] = field(default_factory=dict)
    without_groups: Mapping[str, str] = field(default_factory=dict)
    needs: str = ""
    control: bool = False

    def expected(self, column: Column, groups: bool) -> tuple[Result, str]:
        """What has to come of it, and why if it is not stopped."""
        for key in (str(column), column.isolation):
            if key in self.told:
                return "told", self.told[key]
            if key in self.open:
                return "open", self.open[key]
            if key in self.without_groups and not groups:
                return "open", self.without_groups[key]
        return "stopped", ""


_SHARES = "Landlock shares the list of processes with the system, and does not guard it."
_META = "Landlock guards what is in a file, not that it exists, its permissions and its times."
_SHARED_MEMORY = (
    "Python's multiprocessing needs /dev/shm, and Landlock alone has no private one to give."
)
_TERMINALS = "Terminals have to be usable inside, and Landlock alone has no private set of them."
_NO_MOUNTS = (
    "Landlock cannot take a file out of a folder that may be written. The change is reported "
    "with the action."
)
_ENVIRONMENTS = (
    "Landlock cannot take a folder out of one that may be written, and environments are too large "
    "to be looked through after each action."
)
_NEW = "What does not exist yet cannot be protected. It is reported with the action."
_NO_GROUPS = (
    "An ordinary user may not make control groups on this machine, so each process is limited by "
    "itself. Where systemd hands them over, as on most desktops, this is stopped."
)

GROUPS: dict[str, list[Attack]] = {
    "Your files": [
        Attack("read an SSH key", "files", "read_key", "secret", control=True),
        Attack(
            "read the token of the Jupyter server", "files", "read_token", "secret", control=True
        ),
        Attack(
            "read another kernel's connection file",
            "files",
            "read_connection",
            "secret",
            control=True,
        ),
        Attack(
            "read a key through a symbolic link", "files", "read_by_symlink", "secret", control=True
        ),
        Attack(
            "read a key through a hard link", "files", "read_by_hard_link", "secret", control=True
        ),
        Attack(
            "read files through `/proc/PID/root`", "processes", "files_through_proc", control=True
        ),
        Attack(
            "see whether a file exists, and its size",
            "files",
            "exists",
            open={"landlock": _META},
            control=True,
        ),
        Attack(
            "change permissions of your files", "files", "change_mode", open={"landlock": _META}
        ),
        Attack("change times of your files", "files", "change_time", open={"landlock": _META}),
        Attack("write to your `.bashrc`", "files", "write_home"),
        Attack("write to another folder of yours", "files", "write_outside"),
        Attack("write to your `/tmp`", "files", "write_temporary", "outside"),
        Attack("write to Jupyter's Python packages", "files", "write_packages"),
        Attack(
            "read shared memory of your other programs",
            "files",
            "read_shared_memory",
            "secret",
            open={"landlock": _SHARED_MEMORY},
            control=True,
        ),
        Attack("swap a folder for a link while Jupyter reads it", "swapping_links"),
    ],
    "Your programs": [
        Attack("find a key in its own environment", "processes", "own_environment", "secret"),
        Attack(
            "read the environment of the server",
            "processes",
            "environments",
            "secret",
            control=True,
        ),
        Attack(
            "read command lines of your programs",
            "processes",
            "command_lines",
            "secret",
            open={"landlock": _SHARES},
            control=True,
        ),
        Attack("open the memory of the server", "processes", "memory"),
        Attack("read memory by `process_vm_readv`", "processes", "read_memory_of"),
        Attack("trace a program (`ptrace`)", "processes", "trace"),
        Attack("take a program's open files (`pidfd_getfd`)", "processes", "take_descriptor"),
        Attack("signal the server", "processes", "signal_server", control=True),
        Attack("kill your other programs", "processes", "kill"),
        Attack(
            "kill everything (`kill -9 -1`)",
            "processes",
            "kill_all",
            "outside",
            needs="own_process_namespace",
        ),
        Attack(
            "open your terminal",
            "files",
            "terminal",
            open={"landlock": _TERMINALS},
            control=True,
        ),
        Attack("type into a terminal (`TIOCSTI`)", "rights", "type_into_terminal"),
    ],
    "Sockets and network": [
        Attack("connect to the port of the Jupyter server", "sockets", "server_port", control=True),
        Attack("connect to another kernel's socket", "sockets", "kernel_socket", control=True),
        Attack("connect to Docker's socket", "sockets", "docker_socket", control=True),
        Attack("connect to an abstract socket", "sockets", "abstract_socket", control=True),
        Attack(
            "send to a datagram socket of a program", "sockets", "datagram_socket", control=True
        ),
        Attack("find a route to the internet or to cloud metadata", "sockets", "route"),
        Attack("make a raw socket", "sockets", "raw"),
        Attack("reach a host that is not allowed", "network", "other_host", needs="network"),
        Attack("reach another port of an allowed host", "network", "other_port", needs="network"),
        Attack("reach an IP address", "network", "address", needs="network"),
        Attack("reach cloud metadata by the proxy", "network", "metadata", needs="network"),
        Attack(
            "reach the server by an allowed name that leads to it",
            "network",
            "name_of_this_machine",
            needs="network",
        ),
        Attack("reach the server by DNS rebinding", "network", "rebinding", needs="network"),
        Attack("go past the proxy (`--noproxy`)", "network", "direct", needs="network"),
        Attack("carry data out by name lookups", "network", "name_lookup", needs="network"),
        Attack("kill the way to the proxy, to be without it", "killed_relay", needs="network"),
    ],
    "Rights and the kernel": [
        Attack("become root, or set groups", "rights", "become_root"),
        Attack("hold capabilities", "rights", "capabilities"),
        Attack("mount a file system", "rights", "mount"),
        Attack("make a device", "rights", "make_device"),
        Attack("change the root folder", "rights", "change_root"),
        Attack("open disks and other devices", "files", "disks"),
        Attack("read memory and messages of the kernel", "files", "kernel_memory"),
        Attack("write `core_pattern`", "files", "core_pattern"),
        Attack("write to sysrq and other triggers", "files", "kernel_triggers"),
        Attack("open a user namespace (`unshare`)", "rights", "unshare"),
        Attack("open a user namespace (`clone3`)", "rights", "clone3"),
        Attack("use `io_uring`", "rights", "io_uring"),
        Attack("use `bpf`", "rights", "bpf"),
        Attack("use `userfaultfd`", "rights", "userfaultfd"),
        Attack("use the kernel's keyrings", "rights", "keyring"),
        Attack("use `perf_event_open`", "rights", "performance"),
        Attack("open files by handle (`open_by_handle_at`)", "rights", "open_by_handle"),
    ],
    "Limits": [
        Attack("start 400 processes, where 100 are allowed", "bombs", "processes"),
        Attack("take 1.2 GB of memory, where 256 MB are allowed", "bombs", "memory"),
        Attack(
            "take 1.2 GB of memory in six processes",
            "bombs",
            "memory_in_parts",
            without_groups=dict.fromkeys(("bubblewrap", "landlock"), _NO_GROUPS),
        ),
        Attack("fill `/tmp` with one file of 400 MB", "bombs", "temporary_file"),
        Attack(
            "fill `/tmp` with eight files of 50 MB",
            "bombs",
            "temporary_files",
            without_groups={
                "bubblewrap": f"{_NO_GROUPS} `/tmp` is in memory and holds 2 GB at most."
            },
        ),
        Attack("fill the workspace with one file of 400 MB", "bombs", "workspace_file"),
        Attack("fill the workspace with eight files of 50 MB", "bombs", "workspace_files"),
        Attack("raise a limit again", "rights", "raise_limits"),
        Attack("take away the limits of its control group", "files", "limits_of_the_group"),
        Attack("leave core dumps", "bombs", "core_dump"),
        Attack("fill the server's memory with printed text", "printed_flood"),
        Attack("fill the server's memory with one giant message", "giant_message"),
    ],
    "What you execute later": [
        Attack(
            "change a hook of git",
            "traps",
            "change:.git/hooks/pre-commit",
            told={"landlock": _NO_MOUNTS},
        ),
        Attack(
            "change git's configuration",
            "traps",
            "change:.git/config",
            told={"landlock": _NO_MOUNTS},
        ),
        Attack("change `.envrc`", "traps", "change:.envrc", told={"landlock": _NO_MOUNTS}),
        Attack(
            "change `.vscode/tasks.json`",
            "traps",
            "change:.vscode/tasks.json",
            told={"landlock": _NO_MOUNTS},
        ),
        Attack(
            "change `jupyter_server_config.py`",
            "traps",
            "change:jupyter_server_config.py",
            told={"landlock": _NO_MOUNTS},
        ),
        Attack(
            "change a Python environment",
            "traps",
            "change:venv/bin/activate",
            open={"landlock": _ENVIRONMENTS},
        ),
        Attack(
            "replace `.git`, so that its hooks are others",
            "traps",
            "replace_folder:.git",
            told={"landlock": _NO_MOUNTS},
        ),
        Attack(
            "create a hook of git in a folder that had none",
            "traps",
            "create:project/.git/hooks/post-checkout",
            told=dict.fromkeys(("bubblewrap", "landlock", "docker"), _NEW),
        ),
        Attack(
            "create `.envrc` in a folder that had none",
            "traps",
            "create:other/.envrc",
            told=dict.fromkeys(("bubblewrap", "landlock", "docker"), _NEW),
        ),
        Attack(
            "create `jupyter_lab_config.py`",
            "traps",
            "create:jupyter_lab_config.py",
            told=dict.fromkeys(("bubblewrap", "landlock", "docker"), _NEW),
        ),
    ],
    "The sandbox itself": [
        Attack("change its kernel's connection file", "changed_connection"),
        Attack("kill the action server, and live on", "killed_agentd"),
        Attack("make the server deaf to its kernel", "stolen_identity"),
        Attack("run on after the server was killed", "killed_server"),
    ],
}

ATTACKS = [attack for attacks in GROUPS.values() for attack in attacks]
