"""Run the benchmarks and print one table: ``python tests/benchmarks/run.py [NAME ...]``.

Nothing here passes or fails: figures are compared with what this machine can do at best,
measured in the same minute. Figures of different machines or days do not compare.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

# Where this is set, every process that is measured compiles every module again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.path.append(str(Path(__file__).parents[1]))

import big_notebooks
import checkpoints
import containers
import event_log
import first_action
import loop
import sandbox
import server_start
import tokens
from measure import table

BENCHMARKS = {
    "start": server_start.rows,
    "log": event_log.rows,
    "sandbox": sandbox.rows,
    "docker": containers.rows,
    "first": first_action.rows,
    "checkpoints": checkpoints.rows,
    "notebooks": big_notebooks.rows,
    "loop": loop.rows,
    "tokens": tokens.rows,
}


def main() -> None:
    """Run what the command line names, or everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"any of: {', '.join(BENCHMARKS)}")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for name in options.names:
        if name not in BENCHMARKS:
            parser.error(f"there is no benchmark {name}")
    rows = []
    for name in options.names or BENCHMARKS:
        print(f"measuring {name} …", flush=True)
        rows += BENCHMARKS[name](options.rounds)
    print(table(rows))


if __name__ == "__main__":
    main()
