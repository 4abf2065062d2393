"""Files that a person's programs would execute later: created or changed, and said."""

from __future__ import annotations

import pytest
from sandbox_facts import SANDBOXES

from openhands_jupyter.runtime.executed_later import difference, pictures

pytestmark = pytest.mark.sandbox


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("echo evil >.envrc", ".envrc"),
        ("mkdir d; echo evil >d/.envrc", "d/.envrc"),
        ("mkdir .vscode; echo {} >.vscode/tasks.json", ".vscode/tasks.json"),
        ("echo evil >jupyter_server_config.py", "jupyter_server_config.py"),
        ("echo {} >jupyter_notebook_config.json", "jupyter_notebook_config.json"),
        ("git init -q; echo evil >.git/hooks/pre-commit", ".git/hooks/pre-commit"),
        ("git init -q d; echo evil >d/.git/hooks/pre-commit", "d/.git/hooks/pre-commit"),
        ("git init -q; git config core.fsmonitor evil", ".git/config"),
        ("git init -q; git config alias.st '!evil'", ".git/config"),
        ("git init -q elsewhere; echo 'gitdir: elsewhere/.git' >.git", ".git"),
        ("ln -s /tmp/elsewhere .envrc", ".envrc"),
    ],
)
@pytest.mark.parametrize("isolation", SANDBOXES, indirect=True)
async def test_a_new_one_is_said(bench, command, path):
    async with bench() as b:
        observation = await b.sh(f"echo first; {command}")
        assert observation.exit_code == 0, observation
        assert observation.content.startswith("first\n[This created ")
        assert path in observation.content
        assert "programs outside the sandbox may execute later" in observation.content
        # Once is enough.
        assert (await b.sh("echo second")).content == "second\n"


@pytest.mark.parametrize("isolation", SANDBOXES, indirect=True)
async def test_a_cell_says_it_too(bench):
    async with bench() as b:
        observation = await b.cell("open('.envrc', 'w').write('evil'); print('first')")
        assert observation.ok
        texts = [output.text for output in observation.outputs if output.kind == "stream"]
        assert "[This created .envrc" in "".join(texts)


@pytest.mark.parametrize("isolation", ["landlock"], indirect=True)
async def test_a_change_is_said_where_it_cannot_be_prevented(bench):
    async with bench() as b:
        await b.sh("git init -q")
        (b.workspace / ".envrc").write_text("old")
        (b.workspace / ".git/hooks/pre-commit").write_text("old")
        observation = await b.sh("echo evil >.envrc; echo evil >.git/hooks/pre-commit")
        assert "[This changed .envrc, .git/hooks/pre-commit, which" in observation.content
        renamed = await b.sh(
            "cp -r .git new; echo evil >new/hooks/pre-commit; rm -r .git; mv new .git"
        )
        assert ".git/hooks/pre-commit" in renamed.content


@pytest.mark.parametrize(
    "command",
    [
        "git init -q; git config user.name me; git -c user.email=a@b commit -q --allow-empty -m x",
        "git init -q d; cd d; git remote add origin https://example.org/x.git",
        "mkdir -p a/b; echo >a/b/module.py; echo >README.md; python3 -m venv --without-pip env",
    ],
)
@pytest.mark.parametrize("isolation", SANDBOXES, indirect=True)
async def test_ordinary_work_is_not_remarked_on(bench, command):
    async with bench() as b:
        observation = await b.sh(command)
        assert (observation.exit_code, observation.content) == (0, "")


def test_links_lead_nowhere(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / ".envrc").touch()
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "link").symlink_to(tmp_path / "outside")
    (workspace / ".vscode").symlink_to(tmp_path / "outside")
    assert pictures(workspace) == {}


def test_many_are_said_shortly(tmp_path):
    (tmp_path / ".vscode").mkdir()
    for number in range(8):
        (tmp_path / ".vscode" / f"{number}.json").touch()
    sentence = difference(tmp_path, {}, pictures(tmp_path))
    assert ".vscode/4.json and 3 more" in sentence
    assert difference(tmp_path, pictures(tmp_path), pictures(tmp_path)) == ""
