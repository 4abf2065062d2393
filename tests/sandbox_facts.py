"""What each way of isolation holds, and what not."""

from __future__ import annotations

import pytest

SANDBOXES = ["bubblewrap", "landlock"]
HERE = [*SANDBOXES, pytest.param("docker", marks=pytest.mark.docker)]
"""Those whose kernel is a process that we start, and so can watch."""

AS_ROOT = "run as root outside the sandbox"
NOT_HELD = {
    "bubblewrap": set(),
    "docker": set(),
    "landlock": {
        "share namespaces with the server",
        "see the server's processes",
        "reach a terminal of the server",
        "read shared memory of the server",
        "change permissions outside",
    },
}
"""By isolation, what its self-test has to find open."""
