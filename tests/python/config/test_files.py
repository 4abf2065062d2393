"""A ``config.toml`` with mistakes: what is said of each, and that all else holds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from configuring import Make, write

from openhands_jupyter.config.toml_file import NotToml, TomlFile

EVERYWHERE = '''\
x = 1
"y z" = 2
a.'b' = 3
[llm]
model = "x"  # model

base_url = """a
b"""
[llm.foo]
model = "y"
[core]
q = {a = 1, b = {c = 2}}
r = [1,
# between
2, {u = 1}]
[[mcp.sse]]
u = 1
[[mcp.sse]]
u = 2
[llm."na.me\\u0041"]
s = 1979-05-27T07:32:00Z
'''


def test_every_key_has_its_line() -> None:
    file = TomlFile(EVERYWHERE.encode())
    lines = {
        ("x",): 1,
        ("y z",): 2,
        ("a", "b"): 3,
        ("llm",): 4,
        ("llm", "model"): 5,
        ("llm", "base_url"): 7,
        ("llm", "foo"): 9,
        ("llm", "foo", "model"): 10,
        ("core", "q", "b", "c"): 12,
        ("core", "r", 0): 13,
        ("core", "r", 2, "u"): 15,
        ("mcp", "sse", 0, "u"): 17,
        ("mcp", "sse", 1, "u"): 19,
        ("llm", "na.meA", "s"): 21,
        # What has no line of its own has that of what it is in.
        ("llm", "foo", "none"): 9,
    }
    assert {path: file.line(*path) for path in lines} == lines
    assert file.line("none") is None


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        (b"[llm]\nmodel = 3 4", 2, "nexpected char"),
        (b"[llm]\n\n[llm]", 3, "already exists"),
        (b'[llm]\nmodel = "a"\n\nmodel = "b"', 4, "already exists"),
        (b'[llm]\n"model" = "a"\nmodel = "b"', 3, "already exists"),
        (b'model = "a"\nmodel = "b"', 2, "already exists"),
        (b'[llm]\nmodel = "\xff"', 2, "UTF-8"),
        (b"a = " + b"[" * 10_000, 1, "nested"),
    ],
)
def test_what_is_not_toml_is_said_with_its_line(
    make: Make, home: Path, content: bytes, line: int, said: str
) -> None:
    with pytest.raises(NotToml) as caught:
        TomlFile(content)
    assert caught.value.line == line
    home.mkdir()
    (home / "config.toml").write_bytes(content)
    [problem] = make().problems
    assert (problem.severity, problem.line) == ("error", line)
    assert said in problem.message
    assert str(problem).startswith(f"{home / 'config.toml'}, line {line}: ")


@pytest.mark.parametrize(
    ("entry", "severity", "said"),
    [
        ("[llm]\n\nmodle = 'x'", "error", r"llm.modle is left out: .* did you mean model\?"),
        ("[llm]\n\nmax_iterations = 5", "error", r"did you mean max_iterations in \[core\]\?"),
        ("[core]\n\nstep_limit = 5", "error", r"did you mean max_iterations\?"),
        ("[core]\n\nnonsense = 5", "warning", "core.nonsense is left out: there is no such"),
        ("\n\n[lmm]\nmodel = 'x'", "error", r"lmm is left out: .* did you mean \[llm\]\?"),
        ("\n\n[nonsense]\nmodel = 'x'", "warning", "no such section here"),
        ("\n\nmax_iterations = 5", "error", r"in a section, such as max_iterations in \[core\]"),
        ("\n\ncore = 5", "error", r"it must be a section, \[core\]"),
        ("[core]\n\nmax_iterations = '12'", "error", "Expected `int`"),
        ("[core]\n\nmax_iterations = 0", "error", "Expected `int` >= 1"),
        ("[sandbox]\n\nisolation = 'dokcer'", "error", r"gateway or none; did you mean docker\?"),
        ("[sandbox]\n\nnetwork = 'x'", "error", "it must be off or allow-list."),
        ("[llm]\n\napi_key = 1", "error", "llm.api_key is left out: Expected `str`"),
        ("[security]\n\nmode = 'auto'", "warning", "one run only"),
        ("[security]\n\nconfirmation_mode = false", "warning", "one run only"),
        ("[sandbox]\n\nnetwork_proxy = 'http://x'", "warning", "only the server's configuration"),
        ("[condenser]\n\nmax_size = 100", "warning", "set condenser.max_tokens"),
        ("[sandbox]\n\nvolumes = '/:/'", "warning", "nothing else of the disk"),
        ("[llm]\n\ntemperature = 0", "warning", "it means nothing here"),
        ("\n\n[kubernetes]\nnamespace = 'x'", "warning", "it means nothing here"),
        ("\n\n[agent.CodeActAgent]\ncmd = true", "warning", r"\[agent.CodeActAgent\] is left out"),
        ("\n\n[llm.x]\nbase_url = 'http://x'", "error", "names no model"),
        ("\n\n[llm.tour]\nmodel = 'openai/x'", "error", "cannot be the name"),
        ("[llm.x]\nmodel = 'openai/x'\nmodle = 'x'", "error", r"did you mean model\?"),
        ("[llm.x]\nmodel = 'openai/x'\nvision = 1", "error", "llm.x.vision is left out"),
        ("[llm.x]\nmodel = 'openai/x'\nnum_retries = 1", "error", r"set it in \[llm\]"),
        ("[llm.x]\nmodel = 'openai/x'\napi_key = 1", "error", "llm.x.api_key is left out"),
    ],
)
def test_one_mistake_is_said_and_all_else_holds(
    make: Make, home: Path, entry: str, severity: str, said: str
) -> None:
    write(home / "config.toml", f"{entry}\n[agent]\nstuck_detection = false\n")
    config = make()
    [problem] = config.problems
    assert (problem.severity, problem.line) == (severity, 3)
    assert re.search(said, problem.message), problem.message
    assert problem.where == str(home / "config.toml")
    defaults = make({"OPENHANDS_HOME": str(home / "none"), "AGENT_STUCK_DETECTION": "false"})
    assert config.settings == defaults.settings


@pytest.mark.parametrize("entry", ["mode = 'aks'", "mode = 1", "confirmation_mode = 'yes'"])
def test_a_mode_that_is_not_understood_is_ask(make: Make, home: Path, entry: str) -> None:
    write(home / "config.toml", f"[security]\n{entry}")
    config = make()
    assert (config.settings.mode, config.origin("mode")) == ("ask", "config.toml")
    wrong, held = config.problems
    assert (wrong.severity, wrong.line, held.line) == ("error", 2, 2)
    assert "mode is Ask" in held.message
    assert make({"SECURITY_MODE": "agent"}).settings.mode == "agent"
    assert make({"SECURITY_CONFIRMATION_MODE": "maybe"}).settings.mode == "ask"


def test_what_is_said_can_do_nothing_to_a_terminal(make: Make, root: Path) -> None:
    keys = "".join(f'"{i}\\u001b[2J\\n\\u202e{"x" * 600}" = 1\n' for i in range(100))
    write(root / ".openhands" / "config.toml", f"[core]\n{keys}")
    problems = make().problems
    assert len(problems) == 50
    assert all(problem.message.isprintable() for problem in problems)
    assert all(len(problem.message) < 600 for problem in problems)


def test_servers_and_hooks_say_their_line_too(make: Make, home: Path, root: Path) -> None:
    text = "[mcp.servers.good]\ncommand = 'x'\n[mcp.servers.bad]\nurl = 'nowhere'\n"
    rest = "[mcp]\nsse_servers = [\n'https://x',\n'ftp://y']\nserver = 1\n"
    write(home / "config.toml", text + rest)
    first, second, third = sorted(make().mcp(root).warnings)
    assert "line 3: servers.bad is left out" in first
    assert "line 8: sse_servers[1] is left out" in second
    assert "line 9: server is left out" in third
    wrong = "[[hooks.PreToolUse]]\ncommand = 'x'\n[[hooks.PreToolUse]]\ncommnd = 'x'\n"
    write(home / "config.toml", f"{wrong}[[hooks.PreTool]]\ncommand = 'x'\n")
    config = make()
    one, other = config.hooks(root).problems
    assert "config.toml, line 3: hook 2 of PreToolUse: " in one
    assert "config.toml, line 5: PreTool is no event" in other
    assert [str(problem) for problem in config.all_problems()] == [one, other]
    write(home / "config.toml", "[hooks]\n[hooks]\n")
    [problem] = make().hooks(root).problems
    assert "config.toml, line 2: it is not TOML" in problem


def test_each_origin_is_told_to_the_line(make: Make, home: Path, root: Path) -> None:
    write(home / "config.toml", "[core]\n\nmax_iterations = 7\n")
    write(root / ".openhands" / "config.toml", "[sandbox]\ntimeout = 5\n")
    write(home / "settings.json", '{"idle_timeout": 3}')
    config = make(
        {"LLM_MODEL": "openai/x", "SECURITY_CONFIRMATION_MODE": "true"},
        traits={"prewarm": 1},
        overrides={"cost_limit": 2.0},
    )
    told = {
        name: (config.origin(name), *config.entry(name))
        for name in (
            [
                "step_limit",
                "timeout",
                "idle_timeout",
                "model",
                "mode",
                "prewarm",
                "cost_limit",
                "isolation",
            ]
        )
    }
    user, project = home / "config.toml", root / ".openhands" / "config.toml"
    assert told == {
        "step_limit": ("config.toml", "core.max_iterations", str(user), 3),
        "timeout": ("project config.toml", "sandbox.timeout", str(project), 2),
        "idle_timeout": ("panel", "idle_timeout", str(home / "settings.json"), None),
        "model": ("environment", "LLM_MODEL", "", None),
        "mode": ("environment", "SECURITY_CONFIRMATION_MODE", "", None),
        "prewarm": ("traitlets", "c.OpenHandsExtension.prewarm", "", None),
        "cost_limit": ("command line", "--budget", "", None),
        "isolation": ("default", "", "", None),
    }
    assert config.problems == []
