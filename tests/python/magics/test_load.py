"""What it costs a kernel to have the magics."""

from __future__ import annotations

import json
import subprocess
import sys

CODE = """
import json, sys, time
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
began = time.process_time()
shell.run_line_magic("load_ext", "openhands_jupyter")
shell.run_cell_magic
print(json.dumps([time.process_time() - began, sorted(sys.modules)]))
"""
FORBIDDEN = {"tornado", "jupyter_server", "litellm", "docker", "mcp", "msgspec", "jinja2"}


def test_loading_imports_no_server() -> None:
    answer = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True
    )
    seconds, modules = json.loads(answer.stdout.splitlines()[-1])
    assert FORBIDDEN & {name.split(".")[0] for name in modules} == set()
    ours = {name for name in modules if name.startswith("openhands_jupyter.")}
    assert not [name for name in ours if ".magics" not in name and name.count(".") > 1]
    print(f"loaded in {seconds * 1000:.0f} ms")
