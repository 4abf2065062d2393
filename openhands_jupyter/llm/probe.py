"""Trying out a model: whether the key holds, and what the model is really able to do."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import msgspec

from ..errors import ModelError
from .arguments import decoded
from .base import Delta, LanguageModel, Message, Response, Tool
from .windows import SMALL_WINDOW, advice

Subject = Literal["key", "streaming", "tool_calls", "vision", "window"]
Status = Literal["ok", "failed", "unknown"]

_COUNT = "Write the numbers from 1 to 30 in words, separated by commas, and nothing else."
_CALL = "Call the tool 'note' once, with the word 'blue'. Do not answer in words."
_LOOK = "Which colour is this image? Answer with one word."
_NOTE = Tool(
    name="note",
    description="Note a word.",
    parameters={
        "type": "object",
        "properties": {"word": {"type": "string"}},
        "required": ["word"],
    },
)
_RED = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAS0lEQVR42u3PQQkAAAgAsetfWiP4FgYrsKZeS0BA"
    "QEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEDgsqnc8OJg6Ln3AAAAAElFTkSuQmCC"
)
"""A red square."""


class ModelCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was tried.

    Attributes
    ----------
    subject
        What was tried.
    status
        ``ok``, ``failed``, or ``unknown`` where it could not be tried or is not told.
    message
        What was seen, as a sentence.
    hint
        What to do about it.
    """

    subject: Subject
    status: Status
    message: str
    hint: str = ""


class ModelReport(msgspec.Struct, frozen=True, kw_only=True):
    """What came of trying out a model, one check for each subject."""

    model: str
    checks: list[ModelCheck]


async def probe(model: LanguageModel) -> ModelReport:
    """Try out a model with three short calls, which cost what such calls cost.

    Parameters
    ----------
    model
        The model as it is configured.
    """
    key, streaming = await _key_and_streaming(model)
    if key.status == "ok":
        calls, vision = await asyncio.gather(_tool_calls(model), _vision(model))
    else:
        calls, vision = _not_tried("tool_calls"), _not_tried("vision")
    window = await _window(model)
    return ModelReport(model=model.name, checks=[key, streaming, calls, vision, window])


async def _key_and_streaming(model: LanguageModel) -> tuple[ModelCheck, ModelCheck]:
    pieces = 0

    def count(delta: Delta) -> None:
        nonlocal pieces
        pieces += 1

    try:
        await model.complete([Message(role="user", content=_COUNT)], [], count)
    except ModelError as error:
        status: Status = "failed" if error.code in ("model_auth", "model_quota") else "unknown"
        return _from_error("key", status, error), _not_tried("streaming")
    key = ModelCheck(subject="key", status="ok", message="The model answers.")
    if pieces > 1:
        told = f"The answer came in {pieces} pieces."
        return key, ModelCheck(subject="streaming", status="ok", message=told)
    return key, ModelCheck(
        subject="streaming",
        status="failed",
        message="The answer came in one piece.",
        hint="It works, but nothing is seen before it is done. A proxy in between may be why.",
    )


async def _tool_calls(model: LanguageModel) -> ModelCheck:
    try:
        response = await _answer(model, _CALL, [_NOTE])
    except ModelError as error:
        refused = error.code == "model_bad_request"
        return _from_error("tool_calls", "failed" if refused else "unknown", error)
    for call in response.tool_calls:
        if call.name == _NOTE.name and _is_object(call.arguments):
            return ModelCheck(subject="tool_calls", status="ok", message="It called the tool.")
    return ModelCheck(
        subject="tool_calls",
        status="failed",
        message="It did not call the tool that it was told to.",
        hint="Set tool_calls to off, so that it writes its calls as text, or choose another model.",
    )


async def _vision(model: LanguageModel) -> ModelCheck:
    image = {"type": "image_url", "image_url": {"url": _RED}}
    try:
        response = await _answer(model, [{"type": "text", "text": _LOOK}, image], [])
    except ModelError as error:
        if error.code not in ("model_no_images", "model_bad_request"):
            return _from_error("vision", "unknown", error)
        response = None
    if response and "red" in response.text.lower():
        return ModelCheck(
            subject="vision",
            status="ok",
            message="It sees images.",
            hint=""
            if (await model.capabilities()).vision
            else "Set vision to on, so that it is shown them.",
        )
    return ModelCheck(
        subject="vision",
        status="failed",
        message="It sees no images."
        if response is None
        else "It was shown a red square and did not say so.",
        hint="It is told of images in words. Set vision to off if it is shown any.",
    )


async def _window(model: LanguageModel) -> ModelCheck:
    try:
        window = (await model.capabilities()).window
    except ModelError as error:
        return _from_error("window", "unknown", error)
    if window is None:
        return ModelCheck(
            subject="window",
            status="unknown",
            message="Nobody tells how many tokens it takes.",
            hint=f"Set context_window to what it takes; it should be {SMALL_WINDOW} or more.",
        )
    if window < SMALL_WINDOW:
        told = f"It takes {window} tokens at a time, which is too little for an agent."
        return ModelCheck(subject="window", status="failed", message=told, hint=advice(model.name))
    return ModelCheck(subject="window", status="ok", message=f"It takes {window} tokens at a time.")


async def _answer(
    model: LanguageModel, content: str | list[dict[str, Any]], tools: list[Tool]
) -> Response:
    message = Message(role="user", content=content)
    return await model.complete([message], tools, lambda delta: None)


def _from_error(subject: Subject, status: Status, error: ModelError) -> ModelCheck:
    return ModelCheck(subject=subject, status=status, message=error.message, hint=error.hint)


def _not_tried(subject: Subject) -> ModelCheck:
    return ModelCheck(
        subject=subject, status="unknown", message="Not tried, because the model does not answer."
    )


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(decoded(arguments), dict)
    except ValueError:
        return False
