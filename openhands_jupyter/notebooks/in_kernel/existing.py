"""Tells which of some names a person's namespace has."""

from __future__ import annotations

import base64
import json
from typing import Any

names: dict[str, Any] = globals()["names"]
asked: dict[str, Any] = globals()["asked"]

answer = [name for name in asked["names"] if name in names]
told = base64.b64encode(json.dumps(answer).encode()).decode()
