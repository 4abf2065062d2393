"""The JSON Schema of all events: ``python -m openhands_jupyter.events.schema``."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from .codec import ACTIONS, OBSERVATIONS, TYPES
from .event import Blob


def event_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of an event of any type that this version writes."""
    _, components = msgspec.json.schema_components(
        [*TYPES.values(), Blob], ref_template="#/$defs/{name}"
    )

    def any_of(kinds: tuple[type, ...]) -> dict[str, Any]:
        return {"anyOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in kinds]}

    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Event",
        "anyOf": [{"$ref": "#/$defs/Action"}, {"$ref": "#/$defs/Observation"}],
        "$defs": {"Action": any_of(ACTIONS), "Observation": any_of(OBSERVATIONS), **components},
    }


if __name__ == "__main__":
    print(json.dumps(event_schema(), indent=2))
