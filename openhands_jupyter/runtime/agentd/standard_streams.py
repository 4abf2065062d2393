"""agentd on its standard input and output, where a container's stream is all there is."""

from __future__ import annotations

import json
import os

from .actions import load
from .confine import confine
from .server import Server


def main(description: str) -> None:
    """Serve; the process is over when this returns.

    Parameters
    ----------
    description
        How to confine this process, a JSON object: see `confine`.
    """
    reading, writing = os.dup(0), os.dup(1)
    # What else is printed here must not get into the channel, nor a child read from it.
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(2, 1)
    load()
    unconfined = confine(json.loads(description))
    Server(reading, unconfined, writing).serve()
    os._exit(0)
