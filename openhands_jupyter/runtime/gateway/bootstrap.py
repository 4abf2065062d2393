"""The code that a remote kernel is asked to execute first: it brings all that is needed there."""

from __future__ import annotations

import base64
import secrets
import zipfile
from functools import cache
from io import BytesIO
from pathlib import Path

from ..launch import AGENTD
from . import carrier

_BOOTSTRAP = """\
def _openhands():
    import base64, sys, types
    module = types.ModuleType("_openhands_carrier")
    sys.modules[module.__name__] = module
    exec(compile(base64.b64decode({source!r}), "<openhands>", "exec"), module.__dict__)
    module.start(get_ipython(), base64.b64decode({archive!r}), {folder!r}, {mark!r})
try:
    _openhands()
finally:
    del _openhands
"""


def bootstrap(folder: str) -> str:
    """The code that starts agentd beside a kernel."""
    return _BOOTSTRAP.format(
        source=base64.b64encode(Path(carrier.__file__).read_bytes()).decode(),
        archive=base64.b64encode(_archive()).decode(),
        folder=folder,
        mark=secrets.token_hex(8),
    )


@cache
def _archive() -> bytes:
    """agentd in a zip file."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for module in sorted(AGENTD.glob("*.py")):
            archive.write(module, f"agentd/{module.name}")
    return file.getvalue()
