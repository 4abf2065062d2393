from __future__ import annotations

import re
from typing import Any

from jsonschema import Draft202012Validator

from openhands_jupyter.server.openapi import describe, operations
from openhands_jupyter.server.routes import ROUTES

VERBS = ("get", "post", "put", "patch", "delete")


def test_every_operation_is_described_and_every_description_exists() -> None:
    existing = {
        (path, verb)
        for path, handler in ROUTES.items()
        for verb in VERBS
        if any(verb in vars(cls) for cls in handler.__mro__ if "openhands" in cls.__module__)
    }
    assert existing == set(operations())


def test_every_address_is_on_the_architecture_page(pytestconfig: Any) -> None:
    page = (pytestconfig.rootpath / "docs" / "architecture.md").read_text()
    written = {
        re.sub(r"{\w+}", "{}", path) for path in re.findall(r"[ `]((?:/[\w{}.]+)+)[?`&]", page)
    }
    assert {re.sub(r"{\w+}", "{}", path) for path in ROUTES} <= written


def test_every_reference_leads_somewhere() -> None:
    document = describe("/openhands/api")
    schemas = document["components"]["schemas"]
    names = set(re.findall(r"#/components/schemas/(\w+)", str(document)))
    assert names <= set(schemas)
    assert {"Error", "SessionInfo", "FileWriteAction", "NewMessage"} <= set(schemas)


async def test_it_is_served_and_describes_what_is_answered(api: Any, session: Any) -> None:
    document = (await api("GET", "openapi.json")).body
    assert document["servers"] == [{"url": "/a%40b/openhands/api"}]
    for path in ("/health", "/settings", "/models", "/sessions", f"/sessions/{session.id}/events"):
        template = path.replace(session.id, "{session_id}")
        content = document["paths"][template]["get"]["responses"]["200"]["content"]
        schema = {**content["application/json"]["schema"], "components": document["components"]}
        Draft202012Validator(schema).validate((await api("GET", path.lstrip("/"))).body)


async def test_errors_are_as_described(api: Any) -> None:
    document = (await api("GET", "openapi.json")).body
    schema = {"$ref": "#/components/schemas/Error", "components": document["components"]}
    for path, body in (("sessions/none/messages", {"content": "x"}), ("sessions", {"colour": 1})):
        answer = await api("POST", path, body)
        assert answer.status in (404, 422)
        Draft202012Validator(schema).validate(answer.body)
