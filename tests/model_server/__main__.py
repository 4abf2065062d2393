"""Run the scripted model server: ``PYTHONPATH=tests python -m model_server --script FILE``."""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec

from .script import Script
from .server import ModelServer


def main() -> None:
    """Serve until interrupted; the first line printed is the address to use as ``base_url``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="port; any free one by default")
    parser.add_argument("--script", type=Path, help="JSON file: a list of scripts")
    options = parser.parse_args()
    scripts = (
        msgspec.json.decode(options.script.read_bytes(), type=list[Script])
        if options.script
        else [Script(turns=[])]
    )
    server = ModelServer(*scripts, port=options.port)
    server.start()
    print(server.url, flush=True)
    try:
        server.join()
    except KeyboardInterrupt:
        server.close()


if __name__ == "__main__":
    main()
