"""Says what went wrong with a model call, and what to do, without giving away secrets."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime

import aiohttp
import httpx
import openai
from litellm.exceptions import (
    AuthenticationError,
    ContextWindowExceededError,
    MidStreamFallbackError,
    Timeout,
)

from ..errors import ModelError
from .base import ModelConfig

_SET_A_KEY = "in the OpenHands settings, or with LLM_API_KEY before JupyterLab starts"
_MISSING_KEY = re.compile(r"missing\b.*\b(api[ _]key|credentials)", re.IGNORECASE)
_NO_PROVIDER = re.compile(r"LLM Provider NOT provided")
_CLASS_PREFIX = re.compile(r"(?:litellm\.)?\w+(?:Error|Exception|Timeout)(?:: | - )")
_NO_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing", re.IGNORECASE)
_ON_IMAGES = re.compile(
    r"image|vision|multi-?modal|content\b.*\b(must be|valid|a) string", re.IGNORECASE
)
_LOOKS_SECRET = re.compile(r"\b(sk-|Bearer |key=|token=)[^\s&'\"`,;)]+", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://(\[[0-9a-fA-F:.]+\]|[^\s/@:\[\]]+)(:\d+)?(/\S*)?")
_NOISE = re.compile(r"\s+Original exception: .*|\.? Handle with `litellm\.\w+`\.?", re.DOTALL)
"""What LiteLLM adds to what a provider said in a stream."""

_STATUS_OF = {
    "authentication_error": 401,
    "insufficient_quota": 429,
    "invalid_api_key": 401,
    "invalid_request_error": 400,
    "model_not_found": 404,
    "not_found_error": 404,
    "permission_error": 403,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
}
"""HTTP statuses that providers give with their own names of errors, where these stand for one.

Source: the references of OpenAI's and Anthropic's APIs, "Error codes" and "Errors".
"""

_SHORTEST_SECRET = 6
_LONGEST_QUOTE = 500
_LONGEST_LOOK = 5_000
"""Characters of what a provider said that are looked at."""


def explain(error: Exception, config: ModelConfig, begun: bool, images: bool) -> ModelError:
    """Turn what LiteLLM raised into an error that a person can act on.

    Parameters
    ----------
    error
        What was raised.
    config
        How the model was called.
    begun
        Whether a part of the response had come.
    images
        Whether the prompt held images.

    Returns
    -------
    ModelError
        With one of the codes that it lists.
    """
    if isinstance(error, ModelError):
        return error
    return (
        _interrupted(error, config, begun)
        or _by_key(error, config)
        or _by_images(error, config, images)
        or _by_status(error, config)
        or _unreachable(error, config)
        or ModelError(
            "model_error",
            f"{place(config)} failed. {_quote(error, config)}",
            "Try again in a moment. If it goes on, look at the provider's status page.",
        )
    )


def place(config: ModelConfig) -> str:
    """Name who answers the calls, as the beginning of a sentence."""
    if config.base_url:
        return f"The model server at {_host(config.base_url)}"
    return f"The provider of {config.model}"


def check_address(config: ModelConfig) -> None:
    """See that base_url is an address at all, which LiteLLM tells in riddles.

    Raises
    ------
    ModelError
        When it is not.
    """
    if config.base_url is None:
        return
    if not _ADDRESS.fullmatch(config.base_url):
        raise ModelError(
            "model_unreachable",
            f"base_url, {_host(config.base_url)}, is not the address of a model server.",
            "Set one such as http://localhost:11434/v1 in the settings, without a password.",
        )


def _interrupted(error: Exception, config: ModelConfig, begun: bool) -> ModelError | None:
    causes = list(_causes(error))
    if any(isinstance(cause, httpx.ConnectTimeout) for cause in causes):
        return _unreachable(error, config)
    if isinstance(error, (TimeoutError, Timeout)):
        what = "did not finish its answer" if begun else "did not answer"
        return ModelError(
            "model_timeout",
            f"{config.model} {what}: nothing came for {config.timeout:g} seconds.",
            "Try again, raise model_timeout in the settings, or choose a faster model.",
        )
    if begun and any(
        isinstance(cause, (httpx.TransportError, StopAsyncIteration)) for cause in causes
    ):
        return ModelError(
            "model_cut_off",
            f"The answer of {config.model} broke off before its end.",
            "Try again. If it goes on, look at the log of the model server or of the proxy.",
        )
    return None


def _by_key(error: Exception, config: ModelConfig) -> ModelError | None:
    refused = isinstance(error, AuthenticationError) or _status(error) in (401, 403)
    if not config.api_key and (refused or _MISSING_KEY.search(_said(error))):
        return ModelError(
            "model_auth", f"No API key is set for {config.model}.", f"Set one {_SET_A_KEY}."
        )
    if refused:
        what = "access" if _status(error) == 403 else "the API key"
        return ModelError(
            "model_auth",
            f"{place(config)} refused {what}. {_quote(error, config)}",
            f"Set a valid key {_SET_A_KEY}.",
        )
    return None


def _by_images(error: Exception, config: ModelConfig, images: bool) -> ModelError | None:
    refused = _status(error) in (400, 404, 415, 422, 500, 501) and _ON_IMAGES.search(_said(error))
    if not images or not refused:
        return None
    return ModelError(
        "model_no_images",
        f"{place(config)} takes no images. {_quote(error, config)}",
        "Set vision to off in the settings, or choose a model that sees images.",
    )


def _by_status(error: Exception, config: ModelConfig) -> ModelError | None:
    quote = _quote(error, config)
    if isinstance(error, ContextWindowExceededError) or _status(error) == 413:
        return ModelError(
            "model_context",
            f"The conversation does not fit into the context window of {config.model}. {quote}",
            "Start a new session, or choose a model with a larger context window.",
        )
    if _NO_PROVIDER.search(_said(error)):
        return ModelError(
            "model_not_found",
            f"The name {config.model} does not tell the provider of the model.",
            f"Put the provider before it, such as openai/{config.model}.",
        )
    match status := _status(error):
        case 404:
            address = " and base_url (it often has to end with /v1)" if config.base_url else ""
            return ModelError(
                "model_not_found",
                f"{place(config)} does not know the model {config.model}. {quote}",
                f"Check the model's name{address} in the settings.",
            )
        case 402:
            return _out_of_quota(config, quote)
        case 429 if _NO_QUOTA.search(_said(error)):
            return _out_of_quota(config, quote)
        case 429:
            return _rate_limited(error, config)
        case int() if status == 408 or status >= 500:
            return ModelError(
                "model_unavailable",
                f"{place(config)} failed. {quote}",
                "Try again in a moment. If it goes on, look at the provider's status page.",
                retry_after=_retry_after(error),
            )
        case 400 | 422:
            return ModelError(
                "model_bad_request",
                f"{place(config)} did not accept the request. {quote}",
                "Check that the model can call tools, or choose another one.",
            )
    return None


def _out_of_quota(config: ModelConfig, quote: str) -> ModelError:
    return ModelError(
        "model_quota",
        f"{place(config)} takes no more requests of this account. {quote}",
        "Check the account's quota and its billing, or choose another model.",
    )


def _rate_limited(error: Exception, config: ModelConfig) -> ModelError:
    seconds = _retry_after(error)
    when = "in a while" if seconds is None else f"in {seconds:.0f} seconds"
    return ModelError(
        "model_rate_limited",
        f"{place(config)} takes no more requests at the moment. {_quote(error, config)}",
        f"Try again {when}. If it goes on, check the quota of the account.",
        retry_after=seconds,
    )


def _unreachable(error: Exception, config: ModelConfig) -> ModelError | None:
    causes = list(_causes(error))
    if not any(isinstance(cause, httpx.TransportError) for cause in causes):
        return None
    connecting = [c for c in causes if isinstance(c, aiohttp.ClientConnectorError)]
    host = connecting[0].host if connecting else ""
    who = f"The model server at {host}:{connecting[0].port}" if connecting else place(config)
    connected = not any(isinstance(c, (httpx.ConnectError, httpx.ConnectTimeout)) for c in causes)
    what = "closed the connection without an answer" if connected else "cannot be reached"
    return ModelError(
        "model_unreachable",
        f"{who} {what}.",
        "Check that the server is running, and base_url in the settings."
        if config.base_url or host == "localhost"
        else "Check the network of the machine that JupyterLab runs on.",
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        yield error
        seen.add(id(error))
        error = error.__cause__ or error.__context__


def _status(error: Exception) -> int | None:
    """The HTTP status that the provider answered with; None where it did not answer."""
    # LiteLLM gives connection failures a status of its own making.
    if any(isinstance(cause, httpx.TransportError) for cause in _causes(error)):
        return None
    if _is_of_stream(error) and (told := _status_in_stream(error)):
        return told
    return getattr(error, "status_code", None)


def _is_of_stream(error: Exception) -> bool:
    """Whether a provider told of it in a stream: with LiteLLM between, or with nothing."""
    told_by_openai = any(type(cause) is openai.APIError for cause in _causes(error))
    return told_by_openai or isinstance(error, MidStreamFallbackError)


def _status_in_stream(error: Exception) -> int | None:
    """The status that an error in a stream stands for; LiteLLM goes by its words alone."""
    for cause in _causes(error):
        body = getattr(cause, "body", None)
        if not isinstance(body, dict):
            continue
        code = str(body.get("code"))
        if code.isdecimal() and 400 <= int(code) < 600:
            return int(code)
        return _STATUS_OF.get(code) or _STATUS_OF.get(str(body.get("type")))
    return None


def _retry_after(error: Exception) -> float | None:
    # LiteLLM keeps the headers of the answer in one place or the other.
    headers = getattr(error, "litellm_response_headers", None) or getattr(
        getattr(error, "response", None), "headers", None
    )
    value = (headers or {}).get("retry-after") or ""
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


def _host(base_url: str) -> str:
    """The host and port of an address, without what else may stand in it."""
    return re.sub(r"^\w+://", "", base_url).partition("/")[0].rpartition("@")[2]


def _said(error: Exception) -> str:
    """The beginning of what the provider said, which may be of any length."""
    return str(error)[:_LONGEST_LOOK]


def _quote(error: Exception, config: ModelConfig) -> str:
    """What the provider said, as a sentence, scrubbed; empty if it said nothing."""
    text = _NOISE.sub("", _said(error).split("\nTraceback", 1)[0])
    while match := _CLASS_PREFIX.match(text):
        text = text[match.end() :]
    if config.api_key and len(config.api_key) >= _SHORTEST_SECRET:
        text = text.replace(config.api_key, "…")
    text = _LOOKS_SECRET.sub(r"\1…", text).strip()
    if len(text) > _LONGEST_QUOTE:
        text = text[:_LONGEST_QUOTE] + "…"
    end = "" if text.endswith((".", "!", "?", "…")) else "."
    return f"It said: {text}{end}" if text else ""
