from __future__ import annotations

import itertools
import shutil
import string
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from openhands_jupyter import ipython_code
from openhands_jupyter.events import CmdRunAction, FileWriteAction, IPythonRunCellAction
from openhands_jupyter.security.readonly import is_read_only

relaxed = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

LENGTH = 200_000
SHELL_UNITS = [
    "a|",
    "a;",
    "(",
    "$(",
    "`",
    '"',
    "<<E ",
    "a=(",
    "((a",
    "! a|",
    "\0",
    "<<A\nA\n",
    "f() { ",
]
CELL_UNITS = [
    "(",
    "a.",
    "-",
    "lambda:",
    "a+",
    "f'{",
    "!rm x\n",
    "x = !a\n",
    "x?\n",
    "a = a + a\n",
    "a;",
]


@pytest.mark.parametrize("length", [15_900, 200_000])
@pytest.mark.parametrize("unit", SHELL_UNITS, ids=repr)
@pytest.mark.timeout(60)
def test_long_and_odd_shell_text_does_not_hang(gate, unit: str, length: int) -> None:
    text = (unit * length)[:length]
    verdict = gate.check(CmdRunAction(command=text), mode="agent", isolated=True)
    assert verdict.outcome == ("ask" if verdict.risk.level == "high" else "run")
    assert not is_read_only(text)


@pytest.mark.parametrize("unit", CELL_UNITS, ids=repr)
@pytest.mark.timeout(60)
def test_long_and_odd_cells_do_not_hang(gate, unit: str) -> None:
    text = (unit * LENGTH)[:LENGTH]
    verdict = gate.check(IPythonRunCellAction(code=text), mode="agent", isolated=True)
    assert verdict.outcome == ("ask" if verdict.risk.level == "high" else "run")


def test_long_lines_are_left_to_the_person_where_python_would_copy_them(gate, monkeypatch) -> None:
    monkeypatch.setattr(ipython_code, "COPIES_LINES", True)
    verdict = gate.check(IPythonRunCellAction(code="a." * 8000), mode="agent", isolated=True)
    assert verdict.outcome == "ask"
    short = "x = [" + "1, " * 1000 + "]"
    assert (
        gate.check(IPythonRunCellAction(code=short), mode="agent", isolated=True).outcome == "run"
    )


def test_text_that_crashes_the_native_parser_is_judged(gate) -> None:
    """Found by chance: read as it stands, this ends the process with a segmentation fault."""
    text = bytes.fromhex(
        "f289b1a57bf3a387875c7b28e19c9cf1bb889ff29c9a9f213cf09781bbf1aeb88ad9a3e197aa7d5de280ae7be188"
        "a75b5cc2a060f097aa9ee1a285f38cb0b7c3b8e285a75b2623f0928a91280af39d9c9f28e2a9ae0af1bc9da8c2a0"
        "e282ace380803bf39391adf39989a3f0a580a6f18d9492f096bf9ee1b88621e285a728c69321"
        "62e2bba3285bd885"
    ).decode()
    verdict = gate.check(CmdRunAction(command=text), mode="agent", isolated=True)
    assert verdict.outcome == "ask"


def test_shell_text_too_long_to_check_counts_as_high(shell) -> None:
    risk = shell("echo " + "x" * LENGTH)
    assert risk.level == "high"
    assert "is not checked" in risk.reasons[0]


def test_long_plain_python_is_still_read(cell) -> None:
    lines = "".join(f"x{i} = {i}\n" for i in range(12_000))
    assert cell(lines).level == "low"
    assert cell(lines + "import os\nos.remove('x')\n").level == "high"


def test_deep_nesting_counts_as_high(shell, cell) -> None:
    nested = "rm x"
    for _ in range(4):
        nested = "sh -c '" + nested.replace("'", "'\\''") + "'"
    assert shell(nested).level == "high"
    code = "1"
    for _ in range(12):
        code = f"eval({code!r})"
    assert cell(code).level == "high"
    assert "too deeply" in " ".join(cell(code).reasons)


@relaxed
@given(st.text(max_size=200))
def test_any_text_is_judged(gate, text: str) -> None:
    for action in (
        CmdRunAction(command=text),
        IPythonRunCellAction(code=text),
        FileWriteAction(path=text, content=""),
    ):
        verdict = gate.check(action, mode="agent", isolated=True)
        assert (verdict.outcome == "ask") == (verdict.risk.level == "high")


CODE = """rm x ; & && | > < << EOF $ ( ) { } ' " ` \\ if then fi do done for in sh -c eval = # ! %
    %% bash import os . remove exec def : [ ] , lambda f'"""


@relaxed
@given(st.lists(st.sampled_from([*CODE.split(), "\n"]), max_size=30).map(" ".join))
def test_any_mixture_of_code_is_judged(gate, text: str) -> None:
    for action in (CmdRunAction(command=text), IPythonRunCellAction(code=text)):
        gate.check(action, mode="agent", isolated=True)


SPELLINGS: list[Callable[[str], str]] = [
    lambda char: char,
    lambda char: f"\\{char}",
    lambda char: f"'{char}'",
    lambda char: f'"{char}"',
    lambda char: f"''{char}",
    lambda char: f'{char}""',
    lambda char: f'$"{char}"',
    lambda char: f"$'{char}'",
    lambda char: f"$'\\x{ord(char):02x}'",
    lambda char: f"$'\\u{ord(char):04x}'",
    lambda char: f"$'\\{ord(char):03o}'",
    lambda char: f"\\\n{char}",
]


def _spellings(draw: st.DrawFn, text: str) -> str:
    """One way in which Bash lets a plain word be written."""
    return "".join(draw(st.sampled_from(SPELLINGS))(char) for char in text)


BEFORE_A_COMMAND = [
    *("{}", "command {}", "nohup {}", "nice -n 1 {}", "timeout 5 {}", "exec {}", "setsid {}"),
    *("env {}", "env A=1 {}", "env -u A {}", "stdbuf -o0 {}", "sudo {}", "xargs {}", "busybox {}"),
]
AROUND_A_COMMAND = [
    *("{}", "time {}", "! {}", "( {} )", "{{ {}; }}", "ls; {}", "ls && {}", "ls | {}"),
    *(
        "if true; then {}; fi",
        "for i in 1; do {}; done",
        "while {}; do break; done",
        "f() {{ {}; }}",
    ),
    *("case a in *) {};; esac", "echo $({})", 'echo "$({})"', "x=$({})", "cat <({})", "true || {}"),
    *("{} &", "{} > /dev/null 2>&1", "ls\n{}", " {} # ls", "cat <<E\n$({})\nE\n", "\t{}\n"),
]


@st.composite
def removals(draw: st.DrawFn) -> str:
    """``rm`` on a file, written in whatever way."""
    name = draw(st.sampled_from(["rm", "/bin/rm", "/usr/bin/rm", "unlink", "rmdir", "shred"]))
    command = f"{_spellings(draw, name)} {draw(st.sampled_from(['x', '-rf x', '-- x', '*']))}"
    for shape in (BEFORE_A_COMMAND, ["{}", "A=1 {}"], AROUND_A_COMMAND):
        for _ in range(draw(st.integers(0, 2))):
            command = draw(st.sampled_from(shape)).format(command)
    return command


@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
@given(removals())
def test_no_spelling_of_a_removal_falls_below_high(gate, command: str) -> None:
    risk = gate.check(CmdRunAction(command=command), mode="agent", isolated=True).risk
    assert risk.level == "high", command
    assert not is_read_only(command)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(removals())
def test_no_spelling_hides_in_a_cell(gate, command: str) -> None:
    for code in (f"%%bash\n{command}", f"import os\nos.system({command!r})"):
        risk = gate.check(IPythonRunCellAction(code=code), mode="agent", isolated=True).risk
        assert risk.level == "high", code


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.text(alphabet=string.ascii_letters + " _-.,;|&$()<>*#/", max_size=60))
def test_a_quoted_text_is_only_text(gate, text: str) -> None:
    risk = gate.check(
        CmdRunAction(command=f"echo 'rm {text}' > out/x.txt"), mode="agent", isolated=True
    ).risk
    assert risk.level == "low"


BASH = shutil.which("bash") or ""
RECORDER = 'command_not_found_handle() { builtin echo "$1" >&9; return 0; }\n'
SHELL = """rm rm x \\rm 'r'm r m " ' ; && || | |& & ( ) { } $( ` <<E E <<'E' > >> < <<< &> 2>&1
    a = x=1 x[0]= $x ${x:- [[ ]] [ ] (( )) $(( <( if then else fi for in do done case ;; esac f()
    time ! # * $ $' coproc export declare echo true command builtin eval"""
GAPS = ["", " ", " ", "\n", "\\\n"]


def _commands_run(script: str, folder: Path) -> list[str]:
    """The commands that Bash itself tries to run, none of which exists there."""
    with tempfile.TemporaryFile() as record:
        command = [BASH, "--norc", "--noprofile", "-c", RECORDER + script]
        process = subprocess.Popen(
            ["/bin/sh", "-c", f'exec "$@" 9>&{record.fileno()}', "sh", *command],
            env={"PATH": "/nonexistent"},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[record.fileno()],
        )
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        record.seek(0)
        return record.read().decode("utf-8", "replace").split("\n")


@pytest.mark.skipif(not BASH, reason="needs bash")
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.tuples(st.sampled_from(SHELL.split()), st.sampled_from(GAPS)),
        max_size=12,
    ).map(lambda pairs: "".join(piece + gap for piece, gap in pairs))
)
def test_what_bash_runs_is_seen(gate, tmp_path_factory, script: str) -> None:
    """Bash is the judge: whenever it would run ``rm``, the gate has to have asked."""
    assume("m" in script)
    folder = tmp_path_factory.mktemp("bash")
    if "rm" in _commands_run(script, folder):
        risk = gate.check(CmdRunAction(command=script), mode="agent", isolated=True).risk
        assert risk.level == "high", script


def test_every_wrapped_spelling_of_python_deletion_is_high(cell) -> None:
    reach = [
        "os",
        "__import__('os')",
        "sys.modules['os']",
        "pathlib.os",
        "importlib.import_module('os')",
    ]
    take = [
        "{}.remove",
        "getattr({}, 'remove')",
        "getattr({}, 're' 'move')",
        "{}.__dict__['remove']",
    ]
    use = [
        "{}('x')",
        "f = {}\nf('x')",
        "[f('x') for f in [{}]]",
        "(lambda f: f('x'))({})",
        "map({}, xs)",
    ]
    head = "import os, sys, pathlib, importlib\n"
    for module, name, call in itertools.product(reach, take, use):
        code = head + call.format(name.format(module))
        assert cell(code).level == "high", code
