"""What the prompt says of the place that the agent works in."""

from __future__ import annotations

import pytest

from openhands_jupyter.agents.codeact import CodeActAgent
from openhands_jupyter.events import IsolationObservation, State

LASTS = "into a folder of this workspace that lasts"


@pytest.fixture
def prompt(tmp_path):
    """The prompt for a sandbox."""

    def build(**found):
        agent = CodeActAgent(None, tmp_path)
        isolation = IsolationObservation(
            level="green", backend="bubblewrap", summary="Sandboxed.", **found
        )
        return agent.system_message(State(isolation=isolation))[0]

    return build


def test_it_names_the_python_and_where_packages_go(prompt):
    text = prompt(python="Python 3.11 in /env", packages=True, network=["pypi.org"])
    assert "The kernel and the shell have Python 3.11 in /env. What you install" in text
    assert LASTS in text
    assert "\n\n-" not in text


def test_it_promises_no_packages_where_none_can_be_had(prompt):
    assert LASTS not in prompt(python="Python 3.11 in /env", packages=True, network=None)
    assert LASTS not in prompt(python="Python 3.11 in /env", packages=False, network=[])
    assert "kernel and the shell have" not in prompt()


def test_it_names_the_secrets_that_were_given(prompt):
    assert "variables: DATABASE_PASSWORD, TOKEN." in prompt(secrets=["DATABASE_PASSWORD", "TOKEN"])
    assert "secrets in environment variables" not in prompt()
