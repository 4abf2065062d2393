"""No secret leaves the process: not in any field of any event, in no spelling, not torn apart."""

from __future__ import annotations

import base64
import html
import json
import shlex
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import msgspec
import pytest
from msgspec import inspect

from openhands_jupyter.events import (
    AgentStateChangedObservation,
    Blob,
    CmdRunAction,
    ConfirmationAction,
    Event,
    EventStream,
    FileWriteAction,
    IPythonOutputObservation,
    Masker,
    Output,
)
from openhands_jupyter.events.codec import TYPES
from openhands_jupyter.events.masking import MASK

CANARY = "sk-canary-4f9Zq77x"
SECRETS = {
    "plain": CANARY,
    "quotes": "pass'word\"42",
    "newline": "first-line\nsecond-line",
    "backslash": "dom\\user:\\pass",
    "url": "a/b+c d&e=f?g%h",
    "html": "<token>&'42'",
    "non-ascii": "pässwörd-日本-🔑",
    "digits": "20261129",
    "shortest": "abc123",
    "with line end": "key-from-a-file\n",
    "lone surrogate": "caf\udce9-key",
}
SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "json": json.dumps,
    "json, readable": lambda secret: json.dumps({"key": secret}, ensure_ascii=False),
    "repr": repr,
    "repr in a text with both quotes": lambda secret: repr(f"'a' \"b\" {secret}"),
    "repr of bytes": lambda secret: repr(secret.encode("utf-8", "surrogatepass")),
    "url path": lambda secret: quote(secret.encode("utf-8", "surrogatepass")),
    "url query": lambda secret: quote_plus(secret.encode("utf-8", "surrogatepass")),
    "html": html.escape,
    "shell": shlex.quote,
    **{
        f"base64 after {before!r}": lambda secret, before=before: base64.b64encode(
            before + secret.encode("utf-8", "surrogatepass") + b"-end"
        ).decode()
        for before in (b"", b"u", b"us", b"user:")
    },
    "base64 for urls": lambda secret: base64.urlsafe_b64encode(
        b"user:" + secret.encode("utf-8", "surrogatepass")
    ).decode(),
}


def masker(*secrets: str) -> Masker:
    return Masker(lambda: secrets)


def filled(kind: inspect.Type, text: str) -> Any:
    """A value with `text` in every place where a text may stand."""
    match kind:
        case inspect.StructType(cls=struct) if struct is Blob:
            return Blob(sha256="0" * 64, media_type=text, size=1, preview=text)
        case inspect.StructType(cls=struct, fields=fields):
            given = {field.name: filled(field.type, text) for field in fields}
            return struct(**given | {"id": -1} if issubclass(struct, Event) else given)
        case inspect.UnionType(types=types):
            return filled(next(t for t in types if not isinstance(t, inspect.NoneType)), text)
        case inspect.ListType(item_type=item):
            return [filled(item, text), filled(item, text)]
        case inspect.DictType():
            return {
                text: text,
                "text/html": f"<b>{text}</b>",
                "image/svg+xml": f"<t>{text}</t>",
                "application/json": {"deep": [{f"a{text}b": [text, 1, None]}]},
            }
        case inspect.LiteralType(values=words):
            return words[0]
        case inspect.StrType() | inspect.AnyType():
            return text
        case inspect.BoolType():
            return True
        case inspect.FloatType():
            return 1.5
    return 1 if isinstance(kind, inspect.IntType) else None


def written(folder: Path) -> bytes:
    """Everything that lies in the session's folder."""
    return b"\n".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("size", [1, 5_000], ids=["short", "over the limit"])
@pytest.mark.parametrize("kind", TYPES.values(), ids=TYPES)
async def test_no_field_of_any_type_shows_a_secret(
    open_stream: Callable[..., EventStream], folder: Path, kind: type[Event], size: int
) -> None:
    stream = open_stream(masker(CANARY))
    seen: list[Event] = []
    stream.add_listener(seen.append)
    event = filled(inspect.type_info(kind), f"=={CANARY}==" * size)
    assert str(event).count(CANARY) >= size
    stream.append(event)
    assert type(seen[0]) is kind
    assert CANARY not in repr(seen[0])
    assert stream.read() == seen
    everything = written(folder)
    assert CANARY.encode() not in everything
    # Some types have no text but the session's id, which the stream gives them.
    has_text = CANARY in str(msgspec.structs.replace(event, session=""))
    assert (MASK.encode() in everything) == has_text


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_no_spelling_shows_a_secret(secret: str, spelling: Callable[[str], str]) -> None:
    text = f"before {spelling(secret)} after"
    masked = masker(secret).text(text)
    assert MASK in masked
    assert masked.startswith("before ")
    assert masked.endswith(" after")
    assert not any(part in masked for part in (secret, spelling(secret)))


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
async def test_no_spelling_gets_on_the_log(
    open_stream: Callable[..., EventStream], secret: str, spelling: Callable[[str], str]
) -> None:
    stream = open_stream(masker(secret))
    stream.append(CmdRunAction(command=f"echo {spelling(secret)} | wc"))
    (event,) = stream.read()
    assert isinstance(event, CmdRunAction)
    assert event.command == f"echo {masker(secret).text(spelling(secret))} | wc"


@pytest.mark.parametrize(
    "secret", ["running", "approve", "CmdRunAction", "session", "2026-1", "000000", "command"]
)
async def test_secret_that_looks_like_part_of_the_form_does_not_tear_the_event(
    open_stream: Callable[..., EventStream], secret: str
) -> None:
    stream = open_stream(masker(secret))
    stream.append(CmdRunAction(command=secret))
    stream.append(ConfirmationAction(decision="approve", reason=secret, cause=0))
    stream.append(AgentStateChangedObservation(state="running", reason=secret))
    stream.append(FileWriteAction(path="x", content="0" * 70_000))
    action, decision, state, _ = stream.read()
    assert isinstance(action, CmdRunAction)
    assert isinstance(decision, ConfirmationAction)
    assert isinstance(state, AgentStateChangedObservation)
    assert [action.command, decision.reason, state.reason] == [MASK] * 3
    assert (action.session, decision.decision, state.state) == ("session", "approve", "running")


async def test_digits_do_not_tear_numbers_and_hashes(
    open_stream: Callable[..., EventStream],
) -> None:
    content = "0" * 70_000
    digest = sha256(content.encode()).hexdigest()
    stream = open_stream(masker(digest[:10], "70000070", "123456"))
    stream.append(FileWriteAction(path="x", content=content))
    data = {"application/json": {"small": 123456}, "text/json": {"large": [123456] * 10_000}}
    stream.append(IPythonOutputObservation(outputs=[Output(kind="display_data", data=data)]))
    first, second = stream.read()
    assert isinstance(first, FileWriteAction)
    assert isinstance(first.content, Blob)
    assert first.content.sha256 == digest
    assert isinstance(second, IPythonOutputObservation)
    (output,) = second.outputs
    assert output.data["application/json"] == data["application/json"]
    large = stream.blobs.get(output.data["text/json"].sha256)
    assert json.loads(large) == data["text/json"]


async def test_secret_added_later_is_masked_from_then_on(
    open_stream: Callable[..., EventStream],
) -> None:
    secrets = ["other-secret"]
    stream = open_stream(Masker(lambda: secrets))
    stream.append(CmdRunAction(command=CANARY))
    secrets.append(CANARY)
    stream.append(CmdRunAction(command=CANARY))
    secrets.clear()
    stream.append(CmdRunAction(command=CANARY))
    commands = [event.command for event in stream.read() if isinstance(event, CmdRunAction)]
    assert commands == [CANARY, MASK, CANARY]


@pytest.mark.parametrize("short", ["", "a", "12345", " 123\n", " " * 10])
def test_short_secrets_are_left_alone(short: str) -> None:
    text = f"a {short} 12345 banana" + " " * 20
    assert masker(short).text(text) == text


@pytest.mark.parametrize("secret", ["secret_hidden", "hidden", MASK, "<secre"])
def test_masking_twice_changes_nothing_more(secret: str) -> None:
    once = masker(secret).text(f"a {secret} b")
    assert once == f"a {MASK} b"
    assert masker(secret).text(once) == once


def test_longest_secret_wins() -> None:
    assert (
        masker("abcdef", "abcdefgh", "xabcdefghx").text("xabcdefghx abcdefgh") == f"{MASK} {MASK}"
    )


def test_value_masks_keys_and_keeps_what_holds_no_secret() -> None:
    value = {f"k{CANARY}": [CANARY, 1, 2.5, None, True, {"x": CANARY}], "same": "same"}
    assert masker(CANARY).value(value) == {
        f"k{MASK}": [MASK, 1, 2.5, None, True, {"x": MASK}],
        "same": "same",
    }
    assert masker().value(value) == value
