"""Instructions and skills in a real session, as a model behind the real LiteLLM gets them."""

from __future__ import annotations

import json

from model_server.script import call
from session_tools import events, until

from openhands_jupyter.events import SkillObservation, SkillsObservation


def put(file, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


async def test_what_comes_up_goes_behind_what_the_model_has(
    manager, model_server, workspace, tmp_path
) -> None:
    put(workspace / "AGENTS.md", "Tests are in tests/.")
    put(workspace / "sub" / "AGENTS.md", "Here we write German.")
    put(workspace / "sub" / "a.txt", "x")
    put(workspace / ".openhands/microagents/csv.md", "---\ntriggers: [csv]\n---\nUse pandas.")
    put(workspace / ".openhands/microagents/bad.md", "---\nname: [\n---\n")
    put(tmp_path / "home/skills/plots/SKILL.md", "---\ndescription: Plots.\n---\nNo titles.")
    # A hook of the person's sees what is executed and what is asked for.
    seen = tmp_path / "seen"
    keep = f"cat >> {seen}; echo >> {seen}"
    hooks = {"PreToolUse": [{"matcher": "execute_bash|use_skill", "command": keep}]}
    put(tmp_path / "home/hooks.json", json.dumps(hooks))
    model_server.play(
        call("execute_bash", command="cd sub"),
        call("use_skill", skill="plots"),
        call("finish", message="Done."),
    )
    async with manager() as sessions:
        session = await sessions.create()
        session.send_message("Plot the CSV")
        await until(session, "finished")
        given = [(e.path, e.reason) for e in events(session, SkillObservation)]
        (found,) = events(session, SkillsObservation)
    inputs = [json.loads(line)["tool_input"] for line in seen.read_text().splitlines()]
    assert inputs == [{"command": "cd sub"}, {"skill": "plots"}]
    assert given == [
        ("AGENTS.md", "always"),
        (".openhands/microagents/csv.md", "word"),
        ("sub/AGENTS.md", "path"),
        ("skills/plots/SKILL.md", "asked"),
    ]
    assert "bad.md (of the workspace) is left out: line" in found.problems[0]
    first, second, third = (request.body["messages"] for request in model_server.requests)
    # All that was sent before is sent again as it was, and what came up stands behind it.
    assert second[: len(first)] == first and third[: len(second)] == second
    assert (
        "Tests are in tests/." in first[0]["content"] and "- plots: Plots." in first[0]["content"]
    )
    assert "Plot the CSV" in first[1]["content"] and "Use pandas." in first[2]["content"]
    assert "Here we write German." in second[-1]["content"]
    assert "No titles." in third[-1]["content"] and third[-1]["role"] == "tool"
    assert "use_skill" in str(model_server.requests[0].body["tools"])
