"""Model servers of the person's own on this machine: which models they have, with which window.

Only loopback is asked, only when somebody wants to know, and nothing waits for a server that does
not answer at once. Sources: the API references of Ollama (``/api/tags``, ``/api/ps``,
``/api/show``), LM Studio (``/api/v0/models``), vLLM and llama.cpp (``/v1/models``, ``/props``).
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections.abc import Iterable
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec
from tornado.httpclient import HTTPClientError
from tornado.simple_httpclient import SimpleAsyncHTTPClient

_PATIENCE = 1.0
"""Seconds that a server on this machine may take for a list."""

_LONGEST_LIST = 4 * 2**20
_MOST_MODELS = 200
_NAME = re.compile(r"^[^\s\x00-\x1f]{1,180}$")


class LocalServer(NamedTuple):
    """A server that may run on this machine.

    Attributes
    ----------
    provider
        In LiteLLM's terms.
    label
        As people know it.
    address
        As ``base_url``.
    """

    provider: str
    label: str
    address: str


LOCAL_SERVERS = (
    LocalServer("ollama_chat", "Ollama", "http://127.0.0.1:11434"),
    LocalServer("lm_studio", "LM Studio", "http://127.0.0.1:1234/v1"),
    LocalServer("hosted_vllm", "vLLM", "http://127.0.0.1:8000/v1"),
    LocalServer("llamafile", "llama.cpp", "http://127.0.0.1:8080/v1"),
)


class LocalModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model that a server on this machine has.

    Attributes
    ----------
    name
        In LiteLLM's terms.
    label
        As the server calls it.
    server
        Whose it is, as people know it.
    window
        Tokens that it was loaded with; None where that is not known.
    """

    name: str
    label: str
    server: str
    window: int | None = None


def is_loopback(address: str | None) -> bool:
    """Whether an address leads to this very machine."""
    host = urlsplit(address or "").hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def detect(servers: Iterable[LocalServer] = LOCAL_SERVERS) -> list[LocalModel]:
    """The models of those servers that run, all asked at once."""
    asked = [server for server in servers if is_loopback(server.address)]
    found = await asyncio.gather(*map(models_of, asked))
    return [model for models in found for model in models]


async def models_of(server: LocalServer) -> list[LocalModel]:
    """The models of one server; none where it does not run, or is something else."""
    asking = _Asking(server.address)
    if server.provider.startswith("ollama"):
        windows = await _ollama(asking)
    elif server.provider == "lm_studio":
        windows = await _lm_studio(asking) or await _openai(asking)
    else:
        windows = await _openai(asking)
    return [
        LocalModel(name=f"{server.provider}/{name}", label=name, server=server.label, window=window)
        for name, window in list(windows.items())[:_MOST_MODELS]
        if _NAME.match(name)
    ]


async def window_of(model: str, address: str) -> int | None:
    """The window that a server on this machine gives a model; None where that is not known."""
    provider, _, name = model.partition("/")
    server = LocalServer(provider, provider, address)
    loaded = {found.label: found.window for found in await models_of(server)}
    window = loaded.get(name) or loaded.get(f"{name}:latest")
    if window is None and provider.startswith("ollama"):
        shown = await _Asking(address).json("/api/show", {"model": name})
        told = re.search(r"^num_ctx\s+(\d+)", str(_get(shown, "parameters")), re.MULTILINE)
        window = int(told[1]) if told else None
    return window


async def _ollama(asking: _Asking) -> dict[str, int | None]:
    tags, running = await asyncio.gather(asking.json("/api/tags"), asking.json("/api/ps"))
    windows = {_get(m, "name"): _get(m, "context_length") for m in _list(running, "models")}
    return {
        str(_get(m, "name")): _number(windows.get(_get(m, "name"))) for m in _list(tags, "models")
    }


async def _lm_studio(asking: _Asking) -> dict[str, int | None]:
    told = _list(await asking.json("/api/v0/models"), "data")
    return {
        str(_get(m, "id")): _number(_get(m, "loaded_context_length"))
        for m in told
        if _get(m, "type") in ("llm", "vlm")
    }


async def _openai(asking: _Asking) -> dict[str, int | None]:
    """Any server of the OpenAI protocol; vLLM and llama.cpp tell the window beside it."""
    told, props = await asyncio.gather(asking.json("/v1/models"), asking.json("/props"))
    own = _number(_get(_get(props, "default_generation_settings"), "n_ctx"))
    return {
        str(_get(m, "id")): _number(_get(m, "max_model_len")) or own for m in _list(told, "data")
    }


class _Asking:
    """Asks one server; what does not answer, or not with JSON, answers nothing."""

    def __init__(self, address: str) -> None:
        self._root = address.rstrip("/").removesuffix("/v1")

    async def json(self, path: str, body: dict[str, Any] | None = None) -> Any:
        client = SimpleAsyncHTTPClient(force_instance=True, max_body_size=_LONGEST_LIST)
        try:
            answer = await client.fetch(
                f"{self._root}{path}",
                method="POST" if body else "GET",
                body=msgspec.json.encode(body) if body else None,
                connect_timeout=_PATIENCE,
                request_timeout=_PATIENCE,
                follow_redirects=False,
            )
            return msgspec.json.decode(answer.body)
        except (HTTPClientError, OSError, ValueError, RecursionError, msgspec.MsgspecError):
            return None
        finally:
            client.close()


def _get(told: Any, name: str) -> Any:
    return told.get(name) if isinstance(told, dict) else None


def _list(told: Any, name: str) -> list[Any]:
    listed = _get(told, name)
    return listed if isinstance(listed, list) else []


def _number(told: Any) -> int | None:
    return told if type(told) is int and told > 0 else None
