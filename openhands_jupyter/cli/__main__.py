"""``python -m openhands_jupyter.cli`` does what ``jupyter openhands`` does."""

from __future__ import annotations

from .main import main

main()
