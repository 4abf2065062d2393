"""Why a container did not start, in plain words."""

from __future__ import annotations

from ..launch import BackendUnavailable


def explain(stderr: str) -> BackendUnavailable:
    """Say why agentd did not start, from what it wrote."""
    if "exec python3 failed" in stderr:
        return _without_python()
    lines = stderr.strip().splitlines() or ["it said nothing"]
    telling = next((line for line in reversed(lines) if "rror: " in line), lines[-1])
    return BackendUnavailable(
        f"The Docker image's Python does not run our part of the sandbox ({telling.strip()}).",
        "The image needs Python 3.8 or newer; 'jupyter openhands sandbox check' says what is "
        "missing in it.",
    )


def _without_python() -> BackendUnavailable:
    return BackendUnavailable(
        "The Docker image has no python3.",
        "It needs Python 3.8 or newer with ipykernel, and bash; 'jupyter openhands sandbox check' "
        "says what is missing in it.",
    )


def refused(said: str) -> BackendUnavailable:
    """Say what the daemon means by its refusal, or repeat it where that is not known."""
    if "executable file not found" in said:
        return _without_python()
    if "bind source path does not exist" in said:
        return BackendUnavailable(
            f"The Docker daemon does not see the files of this server ({said}).",
            "It runs on another machine or outside the container that Jupyter runs in. Use a "
            "daemon that shares its files, or another isolation.",
        )
    if "container-init binary not found" in said:
        return BackendUnavailable(
            f"Podman lacks a program that containers need ({said}).",
            "Install it, as with 'sudo apt install catatonit'.",
        )
    return BackendUnavailable(
        f"Docker refuses: {said.rstrip('.')}.",
        "Run 'jupyter openhands sandbox check' to see what works.",
    )
